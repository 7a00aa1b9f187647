#!/bin/bash
# The faults of docs/faults.md as they were found: does each by hand, and says whether it is still there.
#
#   tests/faults/reproduce.sh [PROGRAM]       default: build/release/tools/tessera/tessera
#
# Ends with "N passed, N failed"; 1 where one failed. Those that need a file system of their own need root.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
T=$(readlink -f "${1:-$root/build/release/tools/tessera/tessera}")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
passed=0
failed=0

# expect NUMBER WHAT CODE COMMAND...: the exit code has to be one of CODE ("0|75"); output goes to `out`.
expect() {
  local number=$1 what=$2 codes=$3 code
  shift 3
  timeout 60 bash -c "$*" >out 2>&1 </dev/null
  code=$?
  verdict "$number" "$what" "$([[ "|$codes|" == *"|$code|"* ]] && echo yes)" "exit code $code in place of $codes"
}

# verdict NUMBER WHAT yes|"" WHY
verdict() {
  if [ "$3" = yes ]; then
    passed=$((passed + 1))
    printf 'passed  %2s  %s\n' "$1" "$2"
  else
    failed=$((failed + 1))
    printf 'FAILED  %2s  %s: %s\n' "$1" "$2" "$4"
    head -c 600 out | sed 's/^/            /'
  fi
}

# listens PROCESS: waits until it holds SIGTERM back or catches it; before that it is not yet the program.
listens() {
  local masks
  while [ -e "/proc/$1/status" ]; do
    masks=$(sed -n 's/^Sig\(Blk\|Cgt\):[[:space:]]*//p' "/proc/$1/status")
    for mask in $masks; do
      if (((0x$mask >> 14) & 1)); then return; fi
    done
    sleep 0.01
  done
}
export -f listens

said() { grep -q -- "$1" out && echo yes; }

# deck NAME GRID TIME [REST]
deck() {
  printf '[simulation]\ncomponents = ["heat"]\n[grid]\n%b\n[time]\n%b\n[heat]\nconductivity = 1\ninitial = "x*y"\n%b\n' \
    "$2" "$3" "${4:-}" >"$1.toml"
}

deck small 'cells = [16,16,1]\npatch_size = [8,8,1]' 'max_steps = 20'
deck long 'cells = [24,20,1]\npatch_size = [8,8,1]' 'end = 100\ndt = 1e-4' \
  '[output]\nevery = 0.0037\n[checkpoint]\nevery_steps = 370'
printf '[simulation]\ncomponents = ["heat"]\n[grid]\ncells = [4,4,1]\n[time]\nmax_steps = 20\ndt = 1e-3\n[heat]\nconductivity = 1e-9\ninitial = 2\n' >geo.toml
export T

# 1
cat >levels.toml <<'END'
[simulation]
components = ["levels"]
[grid]
cells = [16,16,1]
patch_size = [4,4,1]
[[grid.level]]
lower = [0.25,0.25,0]
upper = [0.75,0.75,1]
patch_size = [4,4,1]
[[grid.level]]
lower = [0.25,0.25,0]
upper = [0.5,0.5,1]
patch_size = [4,4,1]
[time]
max_steps = 1
dt = 0.001
END
expect 1 "a box flush with the level below, three ranks" 2 '$T run levels.toml -n 3 --threads 1'
deck cube 'cells = [320,320,320]\npatch_size = [64,64,64]' 'max_steps = 1'
expect 1 "three ranks with too little memory" 6 '(ulimit -v 300000; $T run cube.toml -n 3 --threads 1)'
# 2
deck huge 'cells = [1099511627776,1048576,1]\npatches = [1,1,1]' 'max_steps = 1\ndt = 1e-30'
expect 2 "2^60 cells" 2 '$T run huge.toml'
# 3
expect 3 "a run" 0 '$T run small.toml -q --out grown'
awk 'BEGIN { line = "1,0.001,0.001," ; for (n = 0; n < 1000; ++n) line = line "1"; for (n = 0; n < 70000; ++n) print line }' >>grown/history.csv
expect 3 "restart with a history of 70 MB" 0 '$T restart grown -q --set time.max_steps=22'
# 4
printf '[simulation]\ncomponents = ["heat"]\n[grid]\ncells = [10,1,1]\nupper = [20,1,1]\n[time]\nmax_steps = 0\n[heat]\nconductivity = 1\ninitial = "if(floor((x+1)/3) == floor((x+1)*(1/3) + 1e-9), 1, 0) * if(0.5 && 0.5, 1, 0)"\n' >expression.toml
expect 4 "an expression" 0 '$T run expression.toml -q && $T info expression/out/fields_000000.hdf'
verdict 4 "its values are all 1" "$(said 'from 1 to 1')" "$(grep field out)"
# 5
deck large 'cells = [1024,1024,1]' 'max_steps = 1'
expect 5 "a limit on file sizes" 5 '(ulimit -f 6000; $T run large.toml -q)'
expect 5 "the same on two ranks" 5 '(ulimit -f 6000; $T run large.toml -q -n 2 --out large2)'
# 6
expect 6 "4096 threads" 2 '$T run small.toml --threads 4096'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  chmod 777 "$place"
  expect 6 "a limit on processes" 6 'setpriv --reuid 65534 --clear-groups bash -c "ulimit -u 3; exec $T run small.toml --threads 4 --out nobody"'
fi
# 7
cat >corners.toml <<'END'
[simulation]
components = ["levels"]
[grid]
cells = [512,512,512]
patch_size = [128,128,128]
[[grid.level]]
level = 1
lower = [0.001953125,0.001953125,0.001953125]
upper = [0.00390625,0.00390625,0.00390625]
[[grid.level]]
level = 1
lower = [0.99609375,0.99609375,0.99609375]
upper = [0.998046875,0.998046875,0.998046875]
[time]
max_steps = 0
dt = 1e-3
END
expect 7 "two small boxes far apart" 0 'timeout 30 $T check corners.toml --deep'
# 8
deck line 'cells = [1099511627776,1,1]' 'max_steps = 1'
expect 8 "too many patches of the usual size" 2 '$T check line.toml'
# 9
deck older 'cells = [16,16,1]\npatch_size = [8,8,1]' 'max_steps = 20' '[output]\nevery_steps = 5\n[checkpoint]\nevery_steps = 10'
expect 9 "restart from step 10 with other outputs" 0 '$T run older.toml -q && $T restart older -q --from 10 --set output.every_steps=4'
verdict 9 "fields of step 10 are there" "$([ -f older/out/fields_000010.hdf ] && echo yes)" "they are gone"
# 10
expect 10 "a run folder that is moved" 0 '$T run long.toml -q --set time.end=0.4 --out here & sleep 0.7; mv here there; wait $!'
verdict 10 "it is one folder" "$([ ! -e here ] && [ -f there/result.json ] && echo yes)" "$(ls -d here there 2>&1)"
# 11, 34
n=0
for signal in TERM INT HUP USR1 USR2 XCPU; do
  for ranks in 1 2; do
    for after in 0.1 0.3 1; do
      n=$((n + 1))
      expect 11 "SIG$signal to $ranks rank(s) after $after s" 75 "\$T run long.toml -q -n $ranks --out s$n & listens \$!; sleep $after; kill -$signal \$!; wait \$!"
    done
  done
done
expect 34 "two signals within 20 ms" 75 '$T run long.toml -q -n 2 --out twice & sleep 1; kill -TERM $!; sleep 0.02; kill -TERM $!; wait $!'
# 12
expect 12 "a reader who goes away" 0 'set -o pipefail; $T run small.toml -n 2 --out head | head -n 1'
expect 12 "standard output closed" 0 '$T run small.toml -n 2 --out closed >&-'
# 13
if unshare -m true 2>/dev/null; then
  expect 13 "4 MB of /dev/shm" 6 "unshare -m sh -c 'mount -t tmpfs -o size=4m x /dev/shm; \$T run small.toml -n 2 --out shm4'"
  verdict 13 "/dev/shm is named" "$(said '/dev/shm')" "it is not"
  expect 13 "64 MB for 16 ranks" 6 "unshare -m sh -c 'mount -t tmpfs -o size=64m x /dev/shm; \$T run small.toml -n 16 --out shm64'"
  expect 13 "one rank needs none" 0 "unshare -m sh -c 'mount -t tmpfs -o size=4k x /dev/shm; \$T run small.toml -q --out shm1'"
fi
expect 13 "16 open files" 6 '(ulimit -n 16; $T run small.toml -n 2 --out files)'
# 15
expect 15 "two runs" 0 '$T run small.toml -q --out c1 --set checkpoint.every_steps=10 && cp -r c1 c2'
truncate -s 100 c2/checkpoints/ckpt-000020/rank-00000.dat
expect 15 "compare with a damaged newest checkpoint" 3 '$T compare --exact c1 c2'
rm -rf c2/checkpoints
expect 15 "compare with none" 3 '$T compare --exact c1 c2'
expect 15 "fields of another domain" 1 '$T run geo.toml -q --out g1 && $T run geo.toml -q --out g2 --set "grid.upper=[2.0,1.0,1.0]" && $T compare g1/out/fields_000020.hdf g2/out/fields_000020.hdf'
# 16
expect 16 "1e39 in single precision" 0 '$T run geo.toml -q --out single --set heat.initial=1e39 --set "output.precision=\"float32\""'
verdict 16 "it is a warning" "$(said 'too large')" "there is none"
# 17
expect 17 "an output as good as at the end" 0 '$T run geo.toml -q --out landing --set time.end=0.9 --set time.max_steps=100000 --set time.dt=0.01 --set output.every=0.03'
verdict 17 "31 files" "$([ "$(ls landing/out/*.hdf | wc -l)" = 31 ] && echo yes)" "$(ls landing/out/*.hdf | wc -l) files"
# 18
expect 18 "--watchdog nan" 2 '$T run small.toml --watchdog nan'
expect 18 "a field named twice" 2 '$T check small.toml --set "output.fields=[\"temperature\", \"temperature\"]"'
expect 18 "an infinite extent" 2 '$T check small.toml --set "grid.lower=[-1.7e308,0.0,0.0]" --set "grid.upper=[1.7e308,1.0,1.0]"'
expect 18 "an end before the checkpoint" 2 '$T run geo.toml -q --out early && $T restart early --set time.end=0.001'
# 20
expect 20 "cfl = 5" 0 '$T check small.toml --set time.cfl=5'
verdict 20 "it is a warning" "$(said 'time.cfl')" "there is none"
# 21
echo precious >precious
expect 21 "a trace in the place of a file" 5 '$T run small.toml -q --trace=precious --out traced'
verdict 21 "the file is whole" "$([ "$(cat precious)" = precious ] && echo yes)" "it is gone"
ln -s c1 link
expect 21 "restart through a link" 0 '$T restart link -q --set time.max_steps=22'
# 22, 35
expect 22 "a run" 0 '$T run small.toml -q --out gen --set checkpoint.every_steps=10'
truncate -s 100 gen/checkpoints/ckpt-000020/manifest*
expect 22 "restart from the older one" 0 '$T restart gen -q --from 10 --set time.max_steps=14 --set checkpoint.every_steps=2'
expect 22 "and on without --from" 0 '$T restart gen -q --set time.max_steps=16'
# 26, 33
expect 26 "a small stack" 6 '(ulimit -s 64; $T run small.toml --out stack)'
expect 26 "little data" 6 '(ulimit -d 20000; $T run small.toml --out data)'
expect 33 "threads without memory" 6 '(ulimit -v 500000; $T run small.toml --threads 64 --out threads)'
# 27
deck cells 'cells = [2048,2048,2048]' 'max_steps = 1'
expect 27 "2048^3 cells in 20 GB" 6 '(ulimit -v 20000000; timeout 10 $T run cells.toml)'
deck patches 'cells = [8192,8192,1]\npatch_size = [1,1,1]' 'max_steps = 1'
expect 27 "67 million patches in 20 GB" 6 '(ulimit -v 20000000; timeout 10 $T run patches.toml)'
# 28
expect 28 "a whole run verifies" 0 '$T run small.toml -q --out sums && $T info --verify sums'
printf '9' | dd of=sums/history.csv bs=1 seek=40 conv=notrunc 2>/dev/null
expect 28 "a changed history does not" 3 '$T info --verify sums'
# 30
expect 30 "two runs" 0 'for r in p q; do $T run small.toml -q --out $r --set time.cfl=0.3 --set time.max_steps=6; done; rm q/provenance.json; $T restart p -q --set time.max_steps=9 && $T restart q -q --set time.max_steps=9'
expect 30 "without provenance.json they are equal" 0 '$T compare --exact p q'
# 31
expect 31 "a run" 0 '$T run small.toml -q --out trust'
python3 -c "print('{\"status\": ' + '['*80000 + ']'*80000 + '}')" >trust/result.json
expect 31 "a deeply nested result.json" 3 '$T info trust'
rm -f trust/reserve && mkfifo trust/reserve
expect 31 "a pipe in the place of a file" '2|3|5' '$T restart trust -q --set time.max_steps=22'
# 32
deck pair 'cells = [512,512,512]\npatch_size = [512,512,512]' 'max_steps = 1'
expect 32 "two ranks without memory" 6 '(ulimit -v 1500000; $T run pair.toml -n 2 --threads 1 --watchdog 3)'
# 36
expect 36 "no length of a step" 2 '$T check levels.toml --deep --set "simulation.title=\"\"" || $T check levels.toml'
expect 36 "describe on a full disk" 5 '$T describe >/dev/full'
expect 36 "a full folder for temporary files" 0 'TMPDIR=/nowhere $T run small.toml -q -n 2 --out tmpdir'

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
