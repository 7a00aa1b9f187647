#!/bin/bash
# Sizes beyond 32 bits in a run: blocks of more than 2^31 bytes in checkpoint files of more than 2^32. A step on one
# rank, a restart on two, and the same two steps without a break end with the same bits.
#
#   tests/faults/large_run.sh [PROGRAM]       default: build/release/tools/tessera/tessera
#
# Needs 13 GB of memory, 30 GB in the folder for temporary files and some minutes, so it is run by hand.
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
T=$(readlink -f "${1:-$root/build/release/tools/tessera/tessera}")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
cat >large.toml <<'END'
[simulation]
components = ["heat"]
[grid]
cells = [1296, 648, 648]
patch_size = [648, 648, 648]
[time]
max_steps = 2
dt = 1e-9
[heat]
conductivity = 1
initial = "x + 2*y - z"
[output]
fields = []
[checkpoint]
keep = 2
END
"$T" run large.toml --out broken --set time.max_steps=1
size=$(stat -c %s broken/checkpoints/ckpt-000001/rank-00000.dat)
if [ "$size" -le 4294967296 ]; then echo "FAILED: the file has only $size bytes"; exit 1; fi
"$T" restart broken -n 2 --threads 1 --set time.max_steps=2
"$T" run large.toml --out whole
"$T" compare --exact broken/checkpoints/ckpt-000002 whole/checkpoints/ckpt-000002
"$T" info broken/checkpoints/ckpt-000002
echo "1 passed, 0 failed"
