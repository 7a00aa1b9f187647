#!/bin/bash
# check_tidy.sh [SECONDS] [BUILD]: clang-tidy (checks in .clang-tidy) on the sources, the most lately changed first, as
# many as fit into SECONDS (default 180). BUILD (default build/release) holds compile_commands.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-180}
build=${2:-build/release}

# A clone without history gives every file the same age, and then the list is in the order of names.
mapfile -t files < <(git log --format= --name-only --diff-filter=AM -n 200 -- '*.cpp' | awk '!seen[$0]++' |
  while read -r file; do if [ -f "$file" ] && grep -q "/$file\"" "$build/compile_commands.json"; then echo "$file"; fi; done)
end=$(($(date +%s) + seconds))
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# one FILE: clang-tidy on it, unless the time is over. g++'s own options are none of clang's.
one() {
  if [ "$(date +%s)" -ge "$end" ]; then return 0; fi
  echo "checked $1" >>"$found"
  clang-tidy-14 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option "$1" 2>/dev/null >>"$found" || true
}
export -f one
export end build found
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} bash -c 'one {}'

done=$(grep -c '^checked ' "$found" || true)
if grep -E -A 4 '(warning|error): ' "$found"; then
  echo "tidy: findings above, in $done of ${#files[@]} files looked at"
  exit 1
fi
echo "tidy: nothing found in $done of ${#files[@]} files (newest first, $seconds s)"
