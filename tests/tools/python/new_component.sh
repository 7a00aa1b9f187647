#!/bin/bash
# new_component.sh [BUILD]: installs Tessera from BUILD (default build/release), and builds and tests what `tessera new component`
# writes, as a user would.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/installed" >"$work/install.log"
cd "$work"
"$root/tessera" new component salt_water
cmake -S salt_water -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/installed"
cmake --build build
ctest --test-dir build --output-on-failure --no-tests=error | tee log

# Everything that there is for results works for components of one's own, also on a refined level and on field files alone.
tools() { "$root/tessera" "$@" >said || { printf 'failed: tessera %s\n' "$*" >&2; exit 1; }; }
said() { grep -q -- "$1" said || { printf 'not said: %s\n' "$1" >&2; cat said >&2; exit 1; }; }
program=$work/build/salt_water
export TESSERA_PROGRAM=$program
"$program" run -q --trace salt_water/salt_water.toml --out run
cmake -S "$root/examples/two_levels" -B levels.build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/installed" >log.levels
cmake --build levels.build
levels.build/two_levels run -q --trace "$root/examples/two_levels/two_levels.toml" --out levels
tools plot run --error --patches
for run in run levels; do
  tools plot $run --patches --levels
  tools plot $run --history
  tools report $run
  tools top $run --once
  said 'done: '
  tools extract $run --point 0.1,0.1,0.5 --time all
  tools export $run --format plotfile -o $run.plt
  tools info --json $run
  said '"kind": "run"'
  cp -r $run/out $run.fields
  tools plot $run.fields --slice z -o $run.png
  tools report $run.fields
  tools compare $run $run.fields --norms
  said 'same'
done
tools report run levels
tools convergence salt_water/salt_water.toml --cells 8,16
said '16 .* 0 '
tools new deck salt_water -o every_key.toml
"$program" check every_key.toml --set time.dt=0.25
tools doctor
said 'a run on 2 process(es) *works'
# The program alone has no Python beside it, and says where there is.
if "$program" plot run 2>said; then exit 1; fi
said './tessera in the repository'
sed -n 's/.*tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*/\2 passed, \1 failed/p' log
