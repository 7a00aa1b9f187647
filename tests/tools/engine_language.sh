#!/bin/bash
# engine_language.sh C|FORTRAN LIBRARY: builds the example in that language against the engine's C face and runs its thousand
# tasks. 77: skipped, there is no compiler.
set -euo pipefail
language=$1
library=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $language in
  C) compiler=cc source=adders.c ;;
  FORTRAN) compiler=gfortran source=adders.f90 ;;
  *) echo "usage: $0 C|FORTRAN LIBRARY" >&2; exit 2 ;;
esac
command -v $compiler >/dev/null || { echo "skipped: $compiler is not installed"; exit 77; }
$compiler "$root/examples/reactions/$source" -o "$work/adders" -I"$root" "$library" -Wl,-rpath,"$(dirname "$library")"
sum=$("$work/adders")
[ "$sum" = 500500 ] || { echo "the sum of all results is '$sum', not 500500" >&2; exit 1; }
echo "a thousand tasks from $language, all results right"
