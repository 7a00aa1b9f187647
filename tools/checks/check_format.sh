#!/bin/bash
# check_format.sh: every C++ file is as clang-format 14 writes it (other versions differ in small things).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mapfile -t files < <(git ls-files -co --exclude-standard '*.hpp' '*.cpp')
complaints=$(clang-format-14 --dry-run -Werror "${files[@]}" 2>&1 || true)
if [ -z "$complaints" ]; then
  echo "format: ${#files[@]} files are as clang-format writes them"
  exit 0
fi
sed -nE 's/^([^: ]+):[0-9]+:.*error:.*/\1: run clang-format-14 -i on it/p' <<<"$complaints" | sort -u
exit 1
