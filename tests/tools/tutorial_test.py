#!/usr/bin/env python3
"""Runs a tutorial as a reader would: every ```bash block in turn, in a folder that looks like the repository's. Each
line of the plain block after it has to come out, but for lines that hold times of the machine; and only a block whose
output shows an error may fail.

usage: tutorial_test.py PAGE
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
MACHINE = re.compile(r"cells/s| in [\d.]+ s")


def steps_of(page):
    """(commands, lines to expect) of each bash block."""
    steps = []
    for language, text in BLOCK.findall(page.read_text()):
        if language == "bash":
            steps.append((text, []))
        elif language == "" and steps:
            steps[-1][1].extend(line for line in text.splitlines() if line.strip() and not MACHINE.search(line))
    return steps


def run(page, folder):
    faults = []
    for commands, expected in steps_of(page):
        done = subprocess.run(["bash", "-e", "-c", commands], cwd=folder, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=250)
        print(f"$ {commands.strip()}\n{done.stdout}")
        shown = {line.strip() for line in done.stdout.splitlines()}
        faults += [f"{page.name}: not in the output: {line}" for line in expected if line.strip() not in shown]
        if done.returncode != 0 and not any("error" in line for line in expected):
            faults.append(f"{page.name}: exit code {done.returncode} of: {commands.strip()}")
    return faults


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        for name in ("tessera", "inputs"):
            os.symlink(ROOT / name, Path(work) / name)
        FAULTS = run(Path(sys.argv[1]), work)
    print("\n".join(FAULTS))
    sys.exit(1 if FAULTS else 0)
