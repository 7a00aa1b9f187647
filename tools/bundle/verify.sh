#!/bin/sh
# verify: proves on this host that the bundle around it works, and measures. Prints one table, whose lines are in
# rows.txt beside it. POSIX sh, with the commands of a host that has nothing else.
set -u
bundle=$(cd "$(dirname "$0")" && pwd) || exit 1
export bundle

usage() {
  cat <<'END'
usage: verify [--quick] [--gpu] [--only TEXT]

Runs programs, tests and benchmarks of this bundle on this host and prints one table: what, measured, target, result.

  --quick       only the lines of seconds
  --gpu         a line that needs a GPU fails where there is none, in place of being skipped
  --only TEXT   only the lines that have TEXT in their name

Exit codes: 0 no line failed, 1 one did, or the host is not fit for the bundle, 2 usage.
END
}

quick=no
gpuAsked=no
only=
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --quick) quick=yes ;;
    --gpu) gpuAsked=yes ;;
    --only)
      [ $# -gt 1 ] || { echo 'verify: --only needs a text' >&2; exit 2; }
      only=$2
      shift
      ;;
    *)
      printf 'verify: unknown option "%s"; see verify --help\n' "$1" >&2
      exit 2
      ;;
  esac
  shift
done

trim() { printf '%s' "$1" | sed 's/^ *//; s/ *$//'; }

about() { awk -v key="$1" '$1 == key {sub(/^[^ ]* /, ""); print}' "$bundle/about"; }

# What would end every program with a message of the loader is said first, in a sentence.
checkHost() {
  if [ "$(uname -m)" != "$(about machine)" ]; then
    echo "verify: this host is $(uname -m), and the bundle is for $(about machine): make one on such a machine" >&2
    exit 1
  fi
  glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | awk '{print $2}')
  if [ -z "$glibc" ]; then
    echo "verify: this host has no glibc, and the bundle needs $(about glibc) or newer: use a host with glibc" >&2
    exit 1
  fi
  if ! awk -v has="$glibc" -v needs="$(about glibc)" \
    'BEGIN {split(has, h, "."); split(needs, n, "."); exit !(h[1] > n[1] || h[1] == n[1] && h[2] + 0 >= n[2] + 0)}'; then
    echo "verify: this host has glibc $glibc, and the bundle needs $(about glibc) or newer: use a newer host, or make" \
      "the bundle on an older one" >&2
    exit 1
  fi
}

passed=0
failed=0
skipped=0
# line WHAT MEASURED TARGET RESULT
line() {
  printf '%-56s %22s %8s  %s\n' "$1" "$2" "$3" "$4"
  case $4 in
    ok) passed=$((passed + 1)) ;;
    skipped*) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) ;;
  esac
}

# fail MEASURED TARGET WHY: a line of the row at work; its log is shown after the table.
fail() {
  line "$what" "$1" "$2" "FAIL: $3"
  case " $failures " in *" $number "*) return ;; esac
  failures="$failures $number"
  printf '%s\n' "${row:-$what}" >"$log.title"
}

checkFiles() {
  what="files as they were packed"
  count=$(awk 'END {print NR}' "$bundle/files")
  if (cd "$bundle" && sha256sum -c files) >"$log" 2>&1; then
    line "$what" "$count files" all ok
    return
  fi
  whole=$(grep -c ': OK$' "$log")
  grep -v ': OK$' "$log" >"$log.damaged"
  mv "$log.damaged" "$log"
  damaged=$(sed -n 's/: FAILED.*//p' "$log" | sed -n '1p')
  fail "$whole of $count files" all "${damaged:-the list of files} is not as it was packed"
}

# Sets gpus, and why there are not more.
countGpus() {
  gpus=0
  whyNot="no GPU"
  if ! [ -x "$bundle/bin/tessera_device_bench" ]; then
    whyNot="no GPU programs here; pack with --preset cuda"
  elif gpuList=$(tessera_device_bench --gpus 2>"$work/gpus"); then
    gpus=$(printf '%s' "$gpuList" | grep -c .)
    printf '%s' "$gpuList" | sed 's/^/  /'
    if [ "$gpus" -gt 0 ]; then printf '\n'; fi
  else
    whyNot=$(sed -n 1p "$work/gpus")
  fi
}

# run COMMAND: in the row's folder, with its limit; sets status, and took in seconds.
run() {
  read -r began _ </proc/uptime
  (cd "$place" && exec timeout -k 10 "$seconds" sh -c "$1") </dev/null >"$out" 2>>"$log"
  status=$?
  cat "$out" >>"$log"
  read -r ended _ </proc/uptime
  took=$(awk "BEGIN {printf \"%.1f\", $ended - $began}")
  why="exit code $status"
  if [ $status -eq 124 ] || [ $status -eq 137 ]; then why="not done after $seconds s"; fi
}

# By its path: a GoogleTest program starts itself again for some cases, by the name that it was started with.
runProgram() { run "\"\$bundle/bin/$program\"${1#"$program"}"; }

exitRow() {
  runProgram "$1"
  if [ $status -eq 0 ]; then line "$what" "$took s" "exit 0" ok; else fail "$took s" "exit 0" "$why"; fi
}

# number of tests that GoogleTest counts as $1
counted() { sed -n "s/^\[  $1 *\] \([0-9]*\) test.*/\1/p" "$out" | sed -n '1p'; }

testsRow() {
  runProgram "$1"
  good=$(counted PASSED)
  away=$(counted SKIPPED)
  measured="${good:-0} passed, $took s"
  if [ $status -ne 0 ]; then
    fail "$measured" "all pass" "$(sed -n 's/^\[  FAILED  \] \([^ ,]*\),* .*/\1/p' "$out" | sed -n '1p') ($why)"
  elif [ "${good:-0}" -eq 0 ]; then
    fail "$measured" "all pass" "no test ran"
  elif [ "$needs" != - ] && [ "${away:-0}" -gt 0 ]; then
    fail "$measured" "all pass" "$away skipped themselves"
  else
    line "$what" "$measured" "all pass" ok
  fi
}

# sameRow "DECK | OPTIONS | OPTIONS [| COMPARE]"
sameRow() {
  old=$IFS
  IFS='|'
  # shellcheck disable=SC2086  # cut at the bars
  set -f -- $1
  set +f
  IFS=$old
  deck=$bundle/inputs/$(trim "$1")
  run "tessera run -q '$deck' --out one $2 && tessera run -q '$deck' --out two $3 && tessera compare one two ${4:---exact}"
  if [ $status -eq 0 ]; then line "$what" "$took s" same ok; else fail "$took s" same "$why"; fi
}

# A figure without a target is for people, and cannot fail.
linesRow() {
  runProgram "$1"
  if [ $status -ne 0 ] || ! [ -s "$out" ]; then
    fail "$took s" lines "$why"
    return
  fi
  row=$what
  while read -r name value unit target rest; do
    what="$row: $name"
    measured="$value $(printf '%s' "$unit" | tr _ ' ')"
    judgement=$(awk -v value="$value" -v target="$target" -v rest="$rest" 'BEGIN {
      limit = target; sub(/^[<>]=?/, "", limit)
      number = "^-?[0-9.]+(e[-+]?[0-9]+)?$"
      if (value !~ number || rest != "" || (target != "-" && (target !~ /^[<>]/ || limit !~ number))) print "no figure"
      else if (target == "-") print "none"
      else if (target ~ /^>=/) print (value + 0 >= limit + 0 ? "met" : "missed")
      else if (target ~ /^<=/) print (value + 0 <= limit + 0 ? "met" : "missed")
      else if (target ~ /^>/) print (value + 0 > limit + 0 ? "met" : "missed")
      else print (value + 0 < limit + 0 ? "met" : "missed") }')
    case $judgement in
      none | met) line "$what" "$measured" "$target" ok ;;
      missed) line "$what" "$measured" "$target" "FAIL: target missed" ;;
      *) fail "$measured" "$target" "not a figure" ;;
    esac
  done <"$out"
}

runRow() {
  case $needs in
    gpu*)
      count=${needs#gpu}
      if [ "$gpus" -lt "${count:-1}" ]; then
        if [ "$gpus" -gt 0 ]; then whyNot="needs $count GPUs"; fi
        if [ $gpuAsked = yes ]; then fail - - "$whyNot"; else line "$what" - - "skipped: $whyNot"; fi
        return
      fi
      ;;
  esac
  program=${rest%% *}
  if [ "$kind" != same ] && ! [ -x "$bundle/bin/$program" ]; then
    line "$what" - - "skipped: $program is not in this bundle"
    return
  fi
  case $kind in
    exit) exitRow "$rest" ;;
    tests) testsRow "$rest" ;;
    same) sameRow "$rest" ;;
    lines) linesRow "$rest" ;;
    *) fail - - "no such kind: $kind" ;;
  esac
}

checkHost
work=$(mktemp -d "${TMPDIR:-/tmp}/tessera-verify.XXXXXX") || exit 1
trap 'exit 1' HUP INT TERM
trap 'status=$?; if [ "$failed" -eq 0 ]; then rm -rf "$work"; fi; exit $status' EXIT
PATH=$bundle/bin:$PATH
TESSERA_TEST_BUNDLE=$bundle
export PATH TESSERA_TEST_BUNDLE
failures=
row=

printf '%s, made for glibc %s; this host: glibc %s, %s cores\n' "$(about program)" "$(about glibc)" "$glibc" \
  "$(getconf _NPROCESSORS_ONLN)"
number=0
log=$work/0.log
countGpus
printf '%-56s %22s %8s  %s\n' what measured target result
checkFiles
while IFS='|' read -r what when needs seconds kind rest; do
  what=$(trim "$what") when=$(trim "$when") needs=$(trim "$needs") seconds=$(trim "$seconds") kind=$(trim "$kind")
  rest=$(trim "$rest")
  case $what in '' | '#'*) continue ;; esac
  case $what in *"$only"*) ;; *) continue ;; esac
  if [ $quick = yes ] && [ "$when" != quick ]; then continue; fi
  number=$((number + 1))
  row=
  log=$work/$number.log
  out=$work/$number.out
  place=$work/$number
  mkdir "$place"
  : >"$log"
  runRow
  rm -rf "$place"
done <"$bundle/rows.txt"

for number in $failures; do
  [ -s "$work/$number.log" ] || continue
  printf '\n== %s: the end of its log\n' "$(cat "$work/$number.log.title")"
  tail -n 20 "$work/$number.log"
done
printf '\n%d ok, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
if [ "$failed" -gt 0 ]; then
  echo "verify: the logs are in $work" >&2
  exit 1
fi
