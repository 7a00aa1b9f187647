#!/bin/bash
# run.sh INSTALLED: builds the example against an installed Tessera, runs its deck with and without an engine and compares
# the answers; then tasks from C and, where gfortran is, from Fortran.
source "$(dirname "${BASH_SOURCE[0]}")/../example.sh"
build
"$work/build/reactions" run reactions.toml --out engine
sed 's/^workers = .*/workers = 0/' reactions.toml >loop.toml
"$work/build/reactions" run loop.toml --out loop
expectSameHistory loop engine
"$work/build/reactions" run reactions.toml --ranks 2 --out ranks
expectSameHistory loop ranks
# (1 - 1/16)^(4 * 2) of the smallest amount, which is 1 at the start and takes 4 substeps in each of 2 steps.
expect engine reactions.min "$(awk 'BEGIN {printf "%.15f", (15 / 16) ^ 8}')"

# expectSums COMPILER ENDING [SOURCE]: tasks of a kind that ships, and of the kind of this folder: 2 rows of 4 substeps and 98 of 8,
# and 100 (1 - 0.25 / 8)^8.
kinds=$work/build/libreact_kinds.so
expectSums() {
  local program
  for program in adders rows; do
    "$1" "${@:3}" "$program.$2" -o "${program}_$2" -I"$installed/include/tessera" -L"$installed/lib" -ltessera_engine_c \
      -Wl,-rpath,"$installed/lib"
  done
  [ "$("./adders_$2")" = 500500 ] || fail "the sum of $2 is '$("./adders_$2")'"
  [ "$("./rows_$2" "$kinds")" = "792 77.569987974" ] || fail "the rows of $2 give '$("./rows_$2" "$kinds")'"
}
expectSums cc c
languages="C++, C"
if command -v gfortran >/dev/null; then
  expectSums gfortran f90 tessera_engine.f90
  languages+=", Fortran"
fi
# By the Python that has numpy, which the package needs.
TESSERA_ENGINE_LIBRARY="$installed/lib/libtessera_engine_c.so" \
  "$example/../../tools/setup/python.sh" exec rows.py "$kinds" || fail "rows from Python"
echo "$name: the same bits with and without an engine; tasks from $languages and Python"
