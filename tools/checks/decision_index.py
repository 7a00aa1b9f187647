#!/usr/bin/env python3
"""Writes docs/decisions/README.md: all decisions by subject, each with its status.

A decision has its status on the first line below its title, in one of the forms
  *Accepted. Subject: devices.*
  *Replaced by [0030](0030-bodies-on-devices-are-recorded.md): why. Subject: devices.*
  *Closed: why. Subject: data.*

usage: decision_index.py [--check] [ROOT]     exit 0: written, or with --check up to date, 1: a fault, or stale
"""
import re
import sys
from pathlib import Path

SUBJECTS = ["numbers and builds", "graphs", "data", "scheduler", "devices", "files and runs"]
TITLE = re.compile(r"^# (\d{4}):? (.+)$")
STATUS = re.compile(r"^\*((Accepted|Replaced by \[\d{4}\]|Closed).*?)\.? Subject: ([\w ]+)\.\*$")

HEAD = """# Decisions

Why things are as they are, by subject. [0000](0000-how-to-write-one.md) says how to write one. *Accepted*:
the code follows it. *Replaced*: a later decision holds instead. *Closed*: the code that it was about is
gone. Numbers that are missing were never used. `tools/checks/decision_index.py` writes this page.
"""


def read(page):
    lines = page.read_text().splitlines()
    title, status = TITLE.match(lines[0]), None
    for line in lines[1:4]:
        status = status or STATUS.match(line)
    if not title:
        return f"{page.name}:1: write the title as '# 0000: what was decided'"
    if not status or status.group(3) not in SUBJECTS:
        return f"{page.name}:3: no status such as '*Accepted. Subject: devices.*'; subjects: {', '.join(SUBJECTS)}"
    return title.group(1), title.group(2), status.group(1), status.group(3)


def index(folder):
    rows, faults = [], []
    for page in sorted(folder.glob("[0-9]*.md")):
        if page.name.startswith("0000"):
            continue
        found = read(page)
        if isinstance(found, str):
            faults.append(found)
        else:
            rows.append((*found, page.name))
    text = HEAD
    for subject in SUBJECTS:
        mine = [row for row in rows if row[3] == subject]
        if mine:
            text += f"\n## {subject.capitalize()}\n\n| decision | status |\n|---|---|\n"
        for number, title, status, _, name in mine:
            text += f"| [{number}]({name}): {title} | {status.split(':')[0].split('. ')[0].lower()} |\n"
    return text, faults


def main():
    names = [name for name in sys.argv[1:] if name != "--check"]
    root = Path(names[0] if names else Path(__file__).resolve().parents[2]).resolve()
    page = root / "docs" / "decisions" / "README.md"
    text, faults = index(page.parent)
    if not faults and "--check" in sys.argv[1:]:
        if not page.exists() or page.read_text() != text:
            faults.append("docs/decisions/README.md is stale: run tools/checks/decision_index.py")
    elif not faults:
        page.write_text(text)
    print("\n".join(faults) or "decisions: each has a status, and the index is up to date")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
