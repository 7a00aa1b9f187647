#!/bin/bash
# made_and_verified.sh: ./tessera bundle as people call it, and the quick lines of verify, with nothing of this shell's
# environment.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$root/tessera" bundle "$work/bundle"
env -i PATH=/usr/bin:/bin TMPDIR="$work" "$work/bundle/verify" --quick
