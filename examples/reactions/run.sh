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

cc adders.c -o adders_c -I"$installed/include/tessera" -L"$installed/lib" -ltessera_engine_c -Wl,-rpath,"$installed/lib"
[ "$(./adders_c)" = 500500 ] || fail "the sum from C is '$(./adders_c)'"
languages="C++ and C"
if command -v gfortran >/dev/null; then
  gfortran adders.f90 -o adders_f -L"$installed/lib" -ltessera_engine_c -Wl,-rpath,"$installed/lib"
  [ "$(./adders_f)" = 500500 ] || fail "the sum from Fortran is '$(./adders_f)'"
  languages="C++, C and Fortran"
fi
echo "$name: the same bits with and without an engine; tasks from $languages"
