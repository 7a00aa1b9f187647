# Sourced by the on_card.sh of a folder of benchmarks: parts with a limit each and one for all of them, a few lines of each on
# the screen and everything in a file.
#   on_card.sh BUILD [-t SECONDS] [-o FILE] [-n] [PART]...   -n: without a GPU, to try the script; the parts' names are $all_parts
# After it: $build, $root, $work (an empty folder), $device (cuda, or what takes its place), $parts.

card_options() {
  local usage="usage: $0 BUILD [-t SECONDS] [-o FILE] [-n] [PART]..., parts: $all_parts"
  [ $# -ge 1 ] && [ -d "$1" ] || { echo "$usage" >&2; exit 2; }
  build=$1
  shift
  details=
  device=cuda
  while getopts t:o:n option; do
    case $option in
      t) total=$OPTARG ;;
      o) details=$OPTARG ;;
      n) device=$without_gpu ;;
      *) echo "$usage" >&2; exit 2 ;;
    esac
  done
  shift $((OPTIND - 1))
  parts=${*:-$all_parts}
  for name in $parts; do
    case " $all_parts " in *" $name "*) ;; *) echo "there is no part $name; $usage" >&2; exit 2 ;; esac
  done
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  details=${details:-$work/details}
  : >"$details" || exit 2
  passed=0
  failed=0
  left_out=0
}

# program NAME: the path of that program of the build; nothing where it was not built, or this machine lacks a library of it.
program() {
  local found
  found=$(find "$build" -name "$1" -type f -perm -u+x | head -1)
  [ -z "$found" ] || ldd "$found" 2>/dev/null | grep -q 'not found' || echo "$found"
}

# seconds_left MOST: so many seconds, or what is left of the time for all parts; 0: nothing is left.
seconds_left() {
  local left=$((total - SECONDS))
  echo $((left < 1 ? 0 : left < $1 ? left : $1))
}

# shortened: the lines of a program that say something, so long as a screen is wide.
shortened() { cut -c1-"${columns:-132}" | grep -v '^[[:space:]]*$'; }

# run SECONDS COMMAND...: the command with its output in $work/out and in the file of details. 0: it ended well.
run() {
  local limit status=0
  limit=$(seconds_left "$1")
  shift
  if ((limit == 0)); then : >"$work/out"; return 125; fi
  printf '\n$ %s\n' "$*" >>"$details"
  timeout -k 5 "$limit" "$@" >"$work/out" 2>&1 || status=$?
  cat "$work/out" >>"$details"
  return "$status"
}

# note STATUS NAME: counts, and says what failed with its last words.
note() {
  case $1 in
    0) passed=$((passed + 1)) ;;
    125) left_out=$((left_out + 1)); echo "-- left out, no time: $2" ;;
    *)
      failed=$((failed + 1))
      echo "-- FAILED ($1): $2"
      { grep -iE 'error|fail|wrong|not as' "$work/out" | head -5; tail -5 "$work/out"; } | awk '!seen[$0]++' | shortened ;;
  esac
}

# part SECONDS LINES NAME COMMAND...: one part, of which so many lines are shown, those that $summary makes of its output.
part() {
  local limit=$1 lines=$2 name=$3 begin=$SECONDS status=0
  shift 3
  run "$limit" "$@" || status=$?
  printf '== %s (%s s)\n' "$name" $((SECONDS - begin))
  if ((status == 0)); then "${summary:-cat}" <"$work/out" | shortened | tail -n "$lines"; fi
  note "$status" "$name"
}

# card_end: the last line of the script.
card_end() {
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$left_out"
  [ "$failed" -eq 0 ]
}
