#!/usr/bin/env python3
"""Keeps files and functions short and public headers explained.

usage: check_sizes.py [ROOT]         exit 0: within the limits, 1: prints one line for each that is not
"""
import re
import statistics
import sys
from pathlib import Path

MODULES = ["core", "grid", "taskgraph", "datawarehouse", "scheduler", "components", "tools"]
FILE_CAP, TEST_FILE_CAP, FILE_MEDIAN = 600, 800, 200
FUNCTION_CAP = 80
COMMENT_SHARE = 0.25       # over all public headers together
COMMENT_SHARE_EACH = 0.08  # of any one public header longer than SHORT_HEADER lines
SHORT_HEADER = 25
SCRIPT_SUFFIXES = {".py", ".sh", ".cmake"}

# Comments, and literals that may hold braces; raw strings first, since they hold anything.
NOISE = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z])\'(?:\\.|[^\'\\\n])\'', re.S)
SCOPE = re.compile(r'\b(namespace|class|struct|union|enum|extern)\b(?!.*\)\s*(const|noexcept|override|->.*)?\s*$)', re.S)


def without_noise(text):
    """The text with comments and literals blanked, line breaks kept."""
    return NOISE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def functions_of(text):
    """(first line, lines) of each function body: the outermost braces below namespaces and classes."""
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), without_noise(text), flags=re.M)
    stack, head = [], 0
    for position, letter in enumerate(text):
        if letter == "{":
            inside = any(kind != "scope" for kind, _ in stack)
            kind = "scope" if not inside and SCOPE.search(text[head:position]) else "body"
            stack.append((kind, position))
            head = position + 1
        elif letter == "}" and stack:
            kind, start = stack.pop()
            if kind == "body" and all(k == "scope" for k, _ in stack):
                yield text.count("\n", 0, start) + 1, text.count("\n", start, position) + 1
            head = position + 1
        elif letter == ";":
            head = position + 1


def comment_share(text):
    """(comment lines, lines that are not blank)."""
    lines = [line for line in text.splitlines() if line.strip()]
    return sum("//" in line for line in lines), len(lines)


def is_public_header(path, root):
    parts = path.relative_to(root).parts
    if parts[0] == "tools" and parts[1] != "tessera":
        return False  # a program's own headers: nobody else includes them
    return path.suffix == ".hpp" and parts[0] in MODULES and "detail" not in parts


def source_files(root):
    for folder in MODULES + ["tests", "cmake"]:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".hpp", ".cpp"} | SCRIPT_SUFFIXES and path.is_file():
                yield path


def check(root):
    faults, lengths, comments, lines = [], [], 0, 0
    for path in source_files(root):
        name, text = path.relative_to(root), path.read_text(errors="replace")
        length = text.count("\n")
        cap = TEST_FILE_CAP if name.parts[0] == "tests" else FILE_CAP
        if length > cap:
            faults.append(f"{name}: {length} lines, at most {cap}: split it by concept")
        if path.suffix in SCRIPT_SUFFIXES:
            continue
        lengths.append(length)
        for start, size in functions_of(text):
            if size > FUNCTION_CAP:
                faults.append(f"{name}:{start}: a function of {size} lines, at most {FUNCTION_CAP}")
        if is_public_header(path, root):
            said, of = comment_share(text)
            comments, lines = comments + said, lines + of
            if of > SHORT_HEADER and said < COMMENT_SHARE_EACH * of:
                faults.append(f"{name}: {said} comment lines of {of}: a public header says what it is for")
    if lengths and statistics.median(lengths) > FILE_MEDIAN:
        faults.append(f"the median file has {statistics.median(lengths)} lines, at most {FILE_MEDIAN}")
    if comments < COMMENT_SHARE * lines:
        faults.append(f"public headers: {100 * comments // lines} % comment lines, at least {COMMENT_SHARE:.0%}")
    return faults


if __name__ == "__main__":
    ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]).resolve()
    FAULTS = check(ROOT)
    print("\n".join(FAULTS) or "sizes: files, functions and comments are within the limits")
    sys.exit(1 if FAULTS else 0)
