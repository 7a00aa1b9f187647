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
# A component of one's own is plotted as any other, by the exact solution of its deck too.
build/salt_water run -q salt_water/salt_water.toml --out run
"$root/tessera" plot run --error
sed -n 's/.*tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*/\2 passed, \1 failed/p' log
