#!/bin/bash
# run.sh [BUILD]: installs Tessera from BUILD (default build/release) into a new folder, builds the program here against
# it as an outside project would, runs its deck and compares the answer.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/installed" >"$work/install.log"
# A copy far from the repository: nothing but the install tree may be found from there.
cp -r "$here" "$work/decay"
cmake -S "$work/decay" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/installed"
cmake --build "$work/build"
cd "$work"

fail() {
  printf 'external component: %s\n' "$*" >&2
  exit 1
}

# column NAME: the last value of that column of the history.
column() {
  awk -F, -v name="$1" '!/^#/ && !at {for (i = 1; i <= NF; ++i) if ($i == name) at = i; next}
    at {value = $at} END {print value}' run/history.csv
}

"$work/build/decay" run decay/decay.toml --out run
least=$(column decay.min)
largest=$(column decay.max)
[ "$(printf '%.12f' "$least")" = 0.586181640625 ] || fail "decay.min is '$least', not 0.586181640625"
[ "$(printf '%.12f' "$largest")" = 2.344726562500 ] || fail "decay.max is '$largest', not 2.3447265625"
"$work/build/decay" list | grep -q '^ *decay ' || fail "the component is not in the list"
"$work/installed/bin/tessera" --version
if "$work/installed/bin/tessera" check decay/decay.toml 2>err; then fail "tessera itself knows decay"; fi
grep -q decay err || fail "the message does not name the component: $(cat err)"
echo "external component: the program built against the install tree gives the right answer"
