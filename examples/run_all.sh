#!/bin/bash
# run_all.sh [BUILD]: installs Tessera from BUILD (default build/release) into a new folder, then builds and checks every
# example against that, as outside projects would. The last line is "N passed, N failed".
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:-$here/../build/release}
installed=$(mktemp -d)
trap 'rm -rf "$installed"' EXIT
cmake --install "$build" --prefix "$installed" >"$installed/install.log" || { tail "$installed/install.log" >&2; exit 1; }

passed=0
failed=0
for run in "$here"/*/run.sh; do
  printf '\n== %s\n' "$(basename "$(dirname "$run")")"
  if "$run" "$installed"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
