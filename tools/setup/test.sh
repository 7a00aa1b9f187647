#!/bin/bash
# test.sh: builds what it tests, runs it with ctest, ends with "N passed, N failed". Called by ./tessera test.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
  cat <<'END'
usage: ./tessera test [--preset NAME] [ctest options]

Builds the program and all tests, then runs them, as many at once as there are cores.

  --preset NAME   which build to test: release (default), debug, checked, asan, tsan
  ctest options   for example -R Deck (only tests whose name matches), -L grid (a folder), -j 1, -N (list)
END
}

preset=release
if [ "${1:-}" = -h ] || [ "${1:-}" = --help ]; then usage; exit 0; fi
if [ "${1:-}" = --preset ]; then
  preset=${2:?--preset needs a name}
  shift 2
fi

"$here/setup.sh" --implicit --test --preset "$preset" --target all
log=$root/build/$preset/test.log
status=0
ctest --test-dir "$root/build/$preset" -j "$(nproc)" --output-on-failure --no-tests=error "$@" 2>&1 |
  tee "$log" | grep --line-buffered -v '^ *Start ' || status=$?

# "98% tests passed, 2 tests failed out of 120"
read -r failed total < <(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*/\1 \2/p' "$log") || true
if [ -n "${total:-}" ]; then printf '%d passed, %d failed\n' $((total - failed)) "$failed"; fi
exit "$status"
