#!/usr/bin/env python3
"""Finds marks of unfinished work, names that say nothing, and paths of one machine.

usage: check_words.py [ROOT]         exit 0: none found, 1: prints one line for each
"""
import re
import subprocess
import sys
from pathlib import Path

# In any text file. Written so that this file does not match itself.
MARKS = {
    r"\bTO[D]O\b|\bFIX[M]E\b|\bXX[X]\b": "unfinished work: do it, or open an issue",
    r"^\s*#\s*if\s+[0]\b": "code switched off: delete it, git keeps it",
    r"\bDISABLE[D]_\w": "a test switched off: mend it or delete it",
    r"\bGTEST_SKI[P]\b(?!.*needs (root|a GPU|hypre))": "a test that may not run: give it what it needs, or say that it needs root, a GPU or hypre",
    r"(?<![\w.$}/])/wor[k]/|/tmp/buil[d]|\.\./share[d]\b": "a path of one machine",
}
# In names of files, folders, namespaces and types.
EMPTY_NAME = re.compile(r"(^|_)(utils?|common|helpers?|misc|stuff)(_|$)")
DECLARED = re.compile(r"^\s*(?:namespace|class|struct)\s+([\w:]+)")
TEXT = {".hpp", ".cpp", ".py", ".sh", ".cmake", ".txt", ".md", ".toml", ".json", ".in", ""}


def tracked_files(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True,
                            text=True, check=False)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
    else:
        names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    return sorted(name for name in set(names) if (root / name).is_file())


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def check(root):
    faults = []
    for name in tracked_files(root):
        path = Path(name)
        for part in [*path.parts[:-1], path.stem]:
            if EMPTY_NAME.search(part):
                faults.append(f'{name}: "{part}" says nothing: name the concept')
        if path.suffix not in TEXT:
            continue
        for number, line in enumerate((root / name).read_text(errors="replace").splitlines(), 1):
            for mark, why in MARKS.items():
                if re.search(mark, line):
                    faults.append(f"{name}:{number}: {why}")
            declared = DECLARED.match(line) if path.suffix in {".hpp", ".cpp"} else None
            if declared and any(EMPTY_NAME.search(snake(word)) for word in declared.group(1).split("::")):
                faults.append(f'{name}:{number}: "{declared.group(1)}" says nothing: name the concept')
    return faults


if __name__ == "__main__":
    ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]).resolve()
    FAULTS = check(ROOT)
    print("\n".join(FAULTS) or "words: no mark of unfinished work, no empty name, no path of one machine")
    sys.exit(1 if FAULTS else 0)
