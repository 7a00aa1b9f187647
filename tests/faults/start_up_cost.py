#!/usr/bin/env python3
"""What the start of a run costs for each patch: processor time of a run without steps, beyond that with one patch.

  tests/faults/start_up_cost.py [PROGRAM]       default: build/release/tools/tessera/tessera

128^3 cells as one patch, as 4,096 and as 32,768; the best of five runs each, with its checkpoint. Exit code 1 where
a patch costs more than 10 us.
"""
import os
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CELLS = 128
MOST_MICROSECONDS = 10.0

DECK = """[simulation]
components = ["heat"]
[grid]
cells = [{cells}, {cells}, {cells}]
patch_size = [{size}, {size}, {size}]
[time]
max_steps = 0
[heat]
conductivity = 1
initial = "x*y"
[output]
fields = []
"""


def seconds(program, folder, size):
    with open(os.path.join(folder, "deck.toml"), "w", encoding="utf-8") as file:
        file.write(DECK.format(cells=CELLS, size=size))
    best = 1e9
    for number in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, "run", "deck.toml", "-q", "--threads", "1", "--out", f"{size}-{number}"], cwd=folder,
                       check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/release/tools/tessera/tessera"))
    good = True
    with tempfile.TemporaryDirectory() as folder:
        one = seconds(program, folder, CELLS)
        print(f"{1:8} patch      {one:6.3f} s")
        for size in (8, 4):
            patches = (CELLS // size)**3
            cost = seconds(program, folder, size)
            each = 1e6 * (cost - one) / patches
            good = good and each <= MOST_MICROSECONDS
            print(f"{patches:8} patches    {cost:6.3f} s, {cost - one:6.3f} s beyond one: {each:5.1f} us a patch")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
