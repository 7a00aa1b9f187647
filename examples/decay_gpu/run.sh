#!/bin/bash
# run.sh INSTALLED: builds the example against an installed Tessera and runs its deck on the host, in checked mode and on a
# device: the emulated one, or a GPU where TESSERA_EXAMPLE_DEVICE says cuda.
source "$(dirname "${BASH_SOURCE[0]}")/../example.sh"
device=${TESSERA_EXAMPLE_DEVICE:-emulated}
build
"$work/build/decay_gpu" run decay.toml --out host
expect host decay.most 2.3447265625
"$work/build/decay_gpu" run decay.toml --checked --out checked
"$work/build/decay_gpu" run decay.toml --device "$device" --out device | tee screen
"$work/build/decay_gpu" run decay.toml --device "$device" --checked --out device_checked
grep -q 'Decay::advance' screen || fail "the table of devices does not name Decay::advance"
for run in checked device device_checked; do expectSameHistory host $run; done
echo "$name: the same bits on the host, in checked mode and on $device"
