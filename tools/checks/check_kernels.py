#!/usr/bin/env python3
"""Finds kernels that nvcc refuses though the host's compiler takes them, so that a build without CUDA finds them too.

usage: check_kernels.py [ROOT]        exit 0: all are fine, 1: prints one line for each that is not

* A closure marked TESSERA_KERNEL stands in no private or protected member function: nvcc calls it from outside of the class.
* It is not generic (`auto` among its parameters).
"""
import re
import sys
from pathlib import Path

FOLDERS = ["core", "components", "scheduler", "tests", "tools", "examples"]
CLOSURE = re.compile(r"\]\s*TESSERA_KERNEL\s*\(([^)]*)\)")
ACCESS = re.compile(r"^ (public|private|protected):")


def faults(text):
    """(line, what is wrong) of each kernel of a source that nvcc refuses."""
    hidden = False
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        access = ACCESS.match(line)
        if access:
            hidden = access.group(1) != "public"
        elif line.startswith("}"):
            hidden = False
        closure = CLOSURE.search(line)
        if closure and hidden:
            found.append((number, "a kernel in a private or protected member function; make the function public or free"))
        if closure and re.search(r"\bauto\b", closure.group(1)):
            found.append((number, "a generic kernel; name the types of its parameters"))
    return found


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    bad = 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            for number, what in faults(path.read_text(errors="replace")):
                print(f"{path.relative_to(root)}:{number}: {what}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
