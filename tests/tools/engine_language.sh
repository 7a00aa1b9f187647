#!/bin/bash
# engine_language.sh C|FORTRAN LIBRARY KINDS: builds the examples in that language against the engine's C face and runs them:
# a thousand tasks of a kind that ships, and rows of a kind of one's own from the shared library KINDS. 77: skipped, there is
# no compiler.
set -euo pipefail
language=$1
library=$2
kinds=$3
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=$root/examples/reactions
case $language in
  C) compiler=(cc "-I$root") ending=c module=() ;;
  FORTRAN) compiler=(gfortran "-J$work") ending=f90 module=("$sources/tessera_engine.f90") ;;
  *) echo "usage: $0 C|FORTRAN LIBRARY KINDS" >&2; exit 2 ;;
esac
command -v "${compiler[0]}" >/dev/null || { echo "skipped: ${compiler[0]} is not installed"; exit 77; }
for program in adders rows; do
  "${compiler[@]}" "${module[@]}" "$sources/$program.$ending" -o "$work/$program" "$library" \
    -Wl,-rpath,"$(dirname "$library")"
done
sum=$("$work/adders")
[ "$sum" = 500500 ] || { echo "the sum of all results is '$sum', not 500500" >&2; exit 1; }
# 2 rows of 4 substeps and 98 of 8; 100 (1 - 0.25 / 8)^8.
rows=$("$work/rows" "$kinds")
[ "$rows" = "792 77.569987974" ] || { echo "the rows give '$rows', not '792 77.569987974'" >&2; exit 1; }
echo "a thousand tasks and rows of a kind of one's own from $language, all results right"
