#!/bin/bash
# run.sh INSTALLED: builds the example against an installed Tessera, runs its deck on one rank and on two, and in checked
# mode, and compares the answers.
source "$(dirname "${BASH_SOURCE[0]}")/../example.sh"
build
"$work/build/two_levels" run two_levels.toml --out one
expect one mixing.total 0.5
[ "$(column one mixing.min)" = 0 ] || fail "the far left is not 0 any more: $(column one mixing.min)"
[ "$(column one mixing.max)" = 1 ] || fail "the far right is not 1 any more: $(column one mixing.max)"
"$work/build/two_levels" run two_levels.toml -n 2 --out two
"$work/build/two_levels" run two_levels.toml --checked --out checked
for run in two checked; do expectSameHistory one $run; done
echo "$name: the same bits on one rank, on two and in checked mode"
