#!/usr/bin/env python3
"""Every relative link and every path in backticks in a .md file leads to something that is there, and every test that
docs/promises.md names exists.

usage: check_links.py [ROOT]         exit 0: all lead somewhere, 1: prints one line for each that does not
"""
import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
# `core/geometry/box.hpp`, `docs/decisions/`: a path from the root, with no blank, wildcard or placeholder in it.
PATH = re.compile(r"`((?:core|grid|taskgraph|datawarehouse|scheduler|components|tools|inputs|tests|docs|cmake)/[\w./-]*)`")
# `Restart.RefusesAFlippedBitByFileAndBlock`, and the two ways in which a test gets its name.
TEST = re.compile(r"`([A-Z]\w+\.[A-Z]\w+)`")
CPP_TEST = re.compile(r"\bTEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)")
MPI_TEST = re.compile(r"\btessera_mpi_test\((\w+\.\w+)")


def tests_of(root):
    names = set()
    for path in (root / "tests").rglob("*.cpp"):
        names.update(".".join(found) for found in CPP_TEST.findall(path.read_text(errors="replace")))
    for path in (root / "tests").rglob("CMakeLists.txt"):
        names.update(MPI_TEST.findall(path.read_text(errors="replace")))
    return names


def check_promises(root):
    page = root / "docs" / "promises.md"
    if page.exists():
        known = tests_of(root)
        for number, line in enumerate(page.read_text().splitlines(), 1):
            for name in TEST.findall(line):
                if name not in known:
                    yield f"docs/promises.md:{number}: there is no test {name}"


def check(root):
    faults = list(check_promises(root))
    listed = subprocess.run(["git", "-C", root, "ls-files", "*.md"], capture_output=True,
                            text=True, check=False)
    names = listed.stdout.split() if listed.returncode == 0 else [str(p.relative_to(root)) for p in root.rglob("*.md")]
    for name in sorted(set(names)):
        page = root / name
        for number, line in enumerate(page.read_text().splitlines(), 1):
            for target in LINK.findall(line):
                if "://" not in target and not (page.parent / target).exists():
                    faults.append(f"{name}:{number}: the link {target} leads nowhere")
            for target in PATH.findall(line):
                if not (root / target).exists() and "*(to come)*" not in line:
                    faults.append(f"{name}:{number}: there is no {target}")
    return faults


if __name__ == "__main__":
    ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]).resolve()
    FAULTS = check(ROOT)
    print("\n".join(FAULTS) or "links: every link and path in the pages leads somewhere")
    sys.exit(1 if FAULTS else 0)
