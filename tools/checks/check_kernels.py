#!/usr/bin/env python3
"""Finds kernels that nvcc refuses though the host's compiler takes them, so that a build without CUDA finds them too.

usage: check_kernels.py [ROOT]        exit 0: all are fine, 1: prints one line for each that is not

* A closure marked TESSERA_KERNEL stands in no private or protected member function: nvcc calls it from outside of the class.
* A header that several sources of kernels include holds none: the linker keeps one copy of a template's functions, while
  nvcc keeps what copies and calls a closure by source, so that in all sources but one it is a null pointer. A class
  with `TESSERA_KERNEL double operator()(Index x) const` does it there.
* It is not generic (`auto` among its parameters).
"""
import re
import sys
from pathlib import Path

FOLDERS = ["core", "components", "scheduler", "tests", "tools", "examples"]
CLOSURE = re.compile(r"\]\s*TESSERA_KERNEL\s*\(([^)]*)\)")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
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


def is_code(line):
    """Whether the closure of a line stands outside of comments and texts."""
    before = line.split("TESSERA_KERNEL")[0]
    return bool(CLOSURE.search(line)) and "//" not in before and before.count('"') % 2 == 0


def users_of_headers(root):
    """For each header of ours the sources of kernels that include it, directly or through others."""
    includes = {}
    for path in sources(root):
        includes[path.relative_to(root).as_posix()] = INCLUDE.findall(path.read_text(errors="replace"))
    users = {}
    for source in includes:
        if not source.endswith("_kernels.cpp"):
            continue
        seen = set()
        ahead = list(includes[source])
        while ahead:
            header = ahead.pop()
            if header in includes and header not in seen:
                seen.add(header)
                users.setdefault(header, []).append(source)
                ahead.extend(includes[header])
    return users


def sources(root):
    for folder in FOLDERS:
        yield from sorted((root / folder).rglob("*.[ch]pp"))


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    bad = 0
    users = users_of_headers(root)
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        text = path.read_text(errors="replace")
        found = faults(text)
        if len(users.get(name, [])) > 1:
            found += [(number, f"a kernel in a header of {len(users[name])} sources of kernels; make it a class with operator()")
                      for number, line in enumerate(text.splitlines(), 1)
                      if is_code(line)]
        for number, what in found:
            print(f"{name}:{number}: {what}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
