#!/bin/bash
# run.sh INSTALLED: builds the example against an installed Tessera, runs its deck and compares the answer.
source "$(dirname "${BASH_SOURCE[0]}")/../example.sh"
build
"$work/build/decay" run decay.toml --out plain
expect plain decay.min 0.586181640625
expect plain decay.max 2.3447265625
"$work/build/decay" run decay.toml --checked --out checked
expectSameHistory plain checked
"$work/build/decay" list | grep -q '^ *decay ' || fail "the component is not in the list"
if "$installed/bin/tessera" check decay.toml 2>err; then fail "tessera itself knows decay"; fi
grep -q decay err || fail "the message does not name the component: $(cat err)"
echo "$name: the program built against the install tree gives the right answer"
