#!/bin/bash
# readme_deck.sh: runs the first command of README.md as it stands there, in a copy of nothing but its working folder,
# and looks for what it promises to leave.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

line=$(grep -m 1 '^\./tessera run ' "$root/README.md")
read -r -a words <<<"$line"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# The command's paths are relative to the repository.
"$root/${words[0]}" "${words[1]}" "$root/${words[2]}"

folder=$(basename "${words[2]}" .toml)
for left in result.json history.csv resolved.toml provenance.json out checkpoints; do
  [ -e "$folder/$left" ] || { echo "README deck: $folder/$left is missing" >&2; exit 1; }
done

# A fresh build has the parts of that deck alone, says so of others, and gets them when a command needs them.
program=$root/build/release/tools/tessera/tessera
parts=$(sed -n 's/^TESSERA_PARTS:[A-Z]*=//p' "$root/build/release/CMakeCache.txt")
if [ "$parts" != all ]; then
  [ "$parts" = heat ] || { echo "README deck: it needs heat, but \"$parts\" was built" >&2; exit 1; }
  said=$("$program" check "$root/inputs/wave/standing_2d.toml" 2>&1) && status=0 || status=$?
  [[ $status = 2 && $said = *'component "wave" is left out of this build, which has heat;'* ]] ||
    { printf 'README deck: exit %s, not the sentence about parts:\n%s\n' "$status" "$said" >&2; exit 1; }
  said=$("$program" job "$root/inputs/jobs/furnace.toml" 2>&1) && status=0 || status=$?
  [[ $status = 2 && $said = *'built without the command `tessera job`'* ]] ||
    { printf 'README deck: exit %s, not the sentence about jobs:\n%s\n' "$status" "$said" >&2; exit 1; }
  "$root/tessera" check "$root/inputs/wave/standing_2d.toml"
  parts=$(sed -n 's/^TESSERA_PARTS:[A-Z]*=//p' "$root/build/release/CMakeCache.txt")
  [ "$parts" = 'heat;wave' ] || { echo "README deck: wave was asked for, but \"$parts\" was built" >&2; exit 1; }
fi

# The launcher adds less than 0.3 s to the program: the best of five calls each.
best() {
  local least=1000000 began took
  for _ in 1 2 3 4 5; do
    began=$(date +%s%N)
    "$@" --version >/dev/null
    took=$((($(date +%s%N) - began) / 1000000))
    if [ "$took" -lt "$least" ]; then least=$took; fi
  done
  echo "$least"
}
alone=$(best "$program")
launcher=$(best "$root/tessera")
echo "README deck: done; ./tessera takes $launcher ms where the program takes $alone ms"
[ $((launcher - alone)) -lt 300 ] || { echo "README deck: the launcher adds 300 ms or more" >&2; exit 1; }
