#!/bin/bash
# check_tidy.sh [COUNT] [BUILD]: clang-tidy (checks in .clang-tidy) on the COUNT sources (default 40; 0: all) that were
# changed last, tests aside. BUILD (default build/release) holds compile_commands.json. A count and not a time, so that the same tree
# gives the same answer on a slow machine and on a fast one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
count=${1:-40}
build=${2:-build/release}

# A clone without history gives every file the same age, and then the list is in the order of names.
mapfile -t files < <(git log --format= --name-only --diff-filter=AM -n 200 -- '*.cpp' ':!tests' | awk '!seen[$0]++' |
  while read -r file; do if [ -f "$file" ] && grep -q "/$file\"" "$build/compile_commands.json"; then echo "$file"; fi; done)
if [ "$count" -gt 0 ]; then files=("${files[@]:0:$count}"); fi
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# one FILE: clang-tidy on it. g++'s own options are none of clang's.
one() {
  echo "checked $1" >>"$found"
  clang-tidy-14 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option "$1" 2>/dev/null >>"$found" || true
}
export -f one
export build found
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} bash -c 'one {}'

done=$(grep -c '^checked ' "$found" || true)
if grep -E -A 4 '(warning|error): ' "$found"; then
  echo "tidy: findings above, in $done files looked at"
  exit 1
fi
echo "tidy: nothing found in the $done files changed last"
