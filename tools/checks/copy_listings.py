#!/usr/bin/env python3
"""Copies listings from sources into pages, so that what a tutorial shows is what is built and tested.

A page marks the block that follows:
  <!-- listing tests/external_component/decay.cpp -->                                    the whole file
  <!-- listing components/heat/heat.cpp from "void Heat::declareStep" to "^}" -->        a part of it
Texts are regular expressions; the part goes from the first line that matches one to the next that matches the other.

usage: copy_listings.py [--check] [ROOT]      exit 0: written, or with --check up to date, 1: a fault, or stale
"""
import re
import subprocess
import sys
import textwrap
from pathlib import Path

BLOCK = re.compile(r'(<!-- listing (\S+?)(?: from "(.*?)" to "(.*?)")? -->\n```\w*\n)((?:(?!```).*\n)*)(```\n)')


def part(path, begin, end):
    lines = path.read_text().rstrip("\n").split("\n")
    if begin is None:
        return "\n".join(lines)
    first = next((n for n, line in enumerate(lines) if re.search(begin, line)), None)
    if first is None:
        return None
    last = next((n for n, line in enumerate(lines) if n >= first and re.search(end, line)), None)
    return None if last is None else textwrap.dedent("\n".join(lines[first:last + 1]))


def update(root, page, faults):
    def replaced(match):
        source = root / match.group(2)
        text = part(source, match.group(3), match.group(4)) if source.exists() else None
        if text is None:
            faults.append(f"{page.relative_to(root)}: {match.group(2)} has no such part, or is not there")
            return match.group(0)
        return match.group(1) + text + "\n" + match.group(6)
    return BLOCK.sub(replaced, page.read_text())


def main():
    names = [name for name in sys.argv[1:] if name != "--check"]
    root = Path(names[0] if names else Path(__file__).resolve().parents[2]).resolve()
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True, check=False)
    faults = []
    pages = [root / name for name in listed.stdout.split()] if listed.returncode == 0 else sorted(root.rglob("*.md"))
    for page in pages:
        if not page.exists():
            continue
        text = update(root, page, faults)
        if text != page.read_text():
            if "--check" in sys.argv[1:]:
                faults.append(f"{page.relative_to(root)}: a listing is stale: run tools/checks/copy_listings.py")
            else:
                page.write_text(text)
    print("\n".join(faults) or "listings: every listing is what its source says")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
