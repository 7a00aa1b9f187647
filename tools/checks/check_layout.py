#!/usr/bin/env python3
"""Keeps rooms small and layered, and each class in one source.

usage: check_layout.py [ROOT]        exit 0: all agree, 1: prints one line for each that does not

* A folder of the program holds at most 25 files, folders below it aside.
* The member functions of a class are defined in its header and at most one source.
* Rooms (folders of one module) include each other as the table of docs/rooms.md says, and other modules see only the
  rooms that it calls open. Between modules the table of docs/design.md holds (check_includes.py).
"""
import re
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from check_sizes import without_noise  # noqa: E402

MODULES = ["core", "grid", "taskgraph", "datawarehouse", "scheduler", "components", "tools"]
ROOMY = ["core", "taskgraph", "datawarehouse", "scheduler", "tools/simulation", "tools/tessera"]
MOST_FILES = 25
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
MEMBER = re.compile(r"^(?:[\w:<>,*&\[\] ]*[ *&])?([A-Z]\w*)(?:::\w+)*::(?:~?\w+|operator[^\w\s]+)\(", re.M)


def sources(root, suffixes):
    for module in MODULES:
        for path in sorted((root / module).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path


def crowded_folders(root):
    counts = defaultdict(int)
    for module in MODULES:
        for path in (root / module).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                counts[path.parent.relative_to(root)] += 1
    for folder, count in sorted(counts.items()):
        if count > MOST_FILES:
            yield f"{folder}: {count} files, at most {MOST_FILES}: make rooms by concept"


def is_definition(text, position):
    """Whether the parameter list that opens before `position` is followed by a body, not by a semicolon."""
    depth = 1
    while depth and position < len(text):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
    rest = re.match(r"[^;{]*", text[position:])
    return text[position + rest.end():position + rest.end() + 1] == "{"


def split_classes(root):
    """Classes whose members are defined in several sources of one module."""
    homes = defaultdict(set)
    for path in sources(root, {".cpp"}):
        text = without_noise(path.read_text(errors="replace"))
        for found in MEMBER.finditer(text):
            if is_definition(text, found.end()):
                homes[(path.relative_to(root).parts[0], found.group(1))].add(str(path.relative_to(root)))
    for (_, name), files in sorted(homes.items()):
        if len(files) > 1:
            yield f"{name}: defined in {', '.join(sorted(files))}: one class in one source"


def room_of(name):
    """The module or library with rooms that a path lies in, and its room ("." for files directly in it)."""
    for owner in ROOMY:
        if name.startswith(owner + "/"):
            room = str(Path(name).parent)[len(owner) + 1:] or "."
            return owner, re.sub(r"/detail$", "", room)
    return None, None


def read_rooms(page):
    """(owner, room) -> (rooms it may include, whether it is open to other modules)."""
    table = {}
    for line in page.read_text().splitlines() if page.exists() else []:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        name = re.fullmatch(r"`([\w/.]+)`", cells[0]) if len(cells) >= 4 else None
        if name:
            owner, room = room_of(name.group(1).rstrip("/.") + "/x")
            table[(owner, room)] = (set(re.findall(r"`([\w/.]+)`", cells[1])), cells[2] == "yes")
    return table


def fault_of_include(name, target, table):
    owner, room = room_of(name)
    their_owner, their_room = room_of(target)
    if their_owner is None or (their_owner, their_room) not in table:
        return None
    if owner == their_owner:
        allowed = table.get((owner, room), (set(), False))[0]
        return None if room == their_room or their_room in allowed else f"is closed to the room {room} of {owner}"
    return None if table[(their_owner, their_room)][1] else f"is in a room that is private to {their_owner}"


def wrong_includes(root):
    table = read_rooms(root / "docs" / "rooms.md")
    for path in sources(root, {".cpp", ".hpp"}):
        name = str(path.relative_to(root))
        owner, room = room_of(name)
        if owner and table and (owner, room) not in table:
            yield f"{name}: docs/rooms.md has no row for the room {room} of {owner}"
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            found = INCLUDE.match(line)
            fault = fault_of_include(name, found.group(1), table) if found else None
            if fault:
                yield f'{name}:{number}: "{found.group(1)}" {fault}: the table in docs/rooms.md says so'


def check(root):
    return [*crowded_folders(root), *split_classes(root), *wrong_includes(root)]


if __name__ == "__main__":
    ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]).resolve()
    FAULTS = check(ROOT)
    print("\n".join(FAULTS) or "layout: rooms are small and layered, each class is in one source")
    sys.exit(1 if FAULTS else 0)
