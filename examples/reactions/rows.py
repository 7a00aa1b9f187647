"""Tasks of a kind of one's own from Python: rows.py LIBRARY, the library of kinds of this folder's CMakeLists.txt."""
import struct
import sys

from tessera.engine import Engine

ROWS, CELLS = 100, 8
ROW_BYTES = 8 * CELLS
#: Arguments and result of ReactRow (react_row.hpp): two addresses, a number and a count; a count.
LAYOUT = ("PPdq", "q")

with Engine("threads", kinds=sys.argv[1]) as engine:
    old = engine.allocate(2 * ROWS * ROW_BYTES)
    for row in range(ROWS):
        engine.copy_in(old + row * ROW_BYTES, struct.pack(f"{CELLS}d", *[row + 1] * CELLS))
    results = engine.map("react_row", [(old + row * ROW_BYTES, old + (ROWS + row) * ROW_BYTES, 0.25, CELLS)
                                       for row in range(ROWS)], LAYOUT)
    last = struct.unpack(f"{CELLS}d", engine.copy_out(old + (2 * ROWS - 1) * ROW_BYTES, ROW_BYTES))
substeps = sum(result[0] for result in results)
assert (substeps, last[-1]) == (792, 100 * (1 - 0.25 / 8) ** 8), (substeps, last)
print(f"{ROWS} rows, {substeps} substeps, all right")
