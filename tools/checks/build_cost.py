#!/usr/bin/env python3
"""Says what a build costs: seconds of each object, and the headers whose lines are compiled most often.

usage: build_cost.py [BUILD] [--top N] [--limit SECONDS] [--json FILE]
  BUILD     a build folder that Ninja built without ccache (default: build/release)
  --top     lines of each table (default: 12)
  --limit   an object may take so many seconds of one processor; 0: no limit (default: 15)
  --json    writes all rows to FILE as well
exit 0: within the limit, 1: an object is above it, 2: no Ninja build there

Ninja's log has the time by the clock, which other work on the machine makes longer. So an object that seems to be above
the limit is compiled once more, alone, and judged by the processor time of its compiler.
"""
import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path


def read_log(build):
    """Output -> seconds by the clock, of its newest build."""
    seconds = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        seconds[output] = (int(end) - int(begin)) / 1000
    return seconds


def read_commands(build):
    """Object -> (command, folder), from compile_commands.json."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        commands[words[words.index("-o") + 1]] = (words, entry["directory"])
    return commands


def processor_seconds(words, folder):
    """Compiles once more into nothing, without ccache; seconds of processor time."""
    words = [word for word in words if Path(word).name != "ccache"]
    words[words.index("-o") + 1] = os.devnull
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=folder, check=False, capture_output=True, env={**os.environ, "CCACHE_DISABLE": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def read_headers(build):
    """Header -> number of objects that read it, for objects of the newest build."""
    users = Counter()
    listed = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        if line.startswith("    ") and not line.endswith(".cpp"):
            users[os.path.normpath(line.strip())] += 1
    return users


def lines_of(build, header):
    try:
        with open(build / header, "rb") as file:
            return sum(1 for _ in file)
    except OSError:
        return 0


def by_group(objects):
    """Program and tests -> (objects, seconds)."""
    groups = defaultdict(lambda: [0, 0.0])
    for name, seconds in objects.items():
        group = "tests" if name.startswith("tests/") or "_tests.dir" in name else "program and benchmarks"
        groups[group][0] += 1
        groups[group][1] += seconds
    return groups


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("build", nargs="?", type=Path, default=Path("build/release"))
    parser.add_argument("--top", type=int, default=12)
    parser.add_argument("--limit", type=float, default=15)
    parser.add_argument("--json", type=Path)
    parser.add_argument("-h", "--help", action="store_true")
    options = parser.parse_args()
    if options.help:
        print(__doc__.strip())
        return 0
    build = options.build.resolve()
    if not (build / ".ninja_log").exists():
        print(f"build cost: {options.build} holds no Ninja build; name one, for example build/release", file=sys.stderr)
        return 2

    commands = read_commands(build)
    objects = {name: seconds for name, seconds in read_log(build).items() if name in commands}
    for group, (count, seconds) in sorted(by_group(objects).items()):
        print(f"build cost: {group}: {count} objects, {seconds:.0f} s of compilers by the clock")
    faults = []
    print(f"\n{'seconds':>8}  object")
    for name, seconds in sorted(objects.items(), key=lambda item: -item[1])[: options.top]:
        said = f"{seconds:8.1f}  {name}"
        if options.limit and seconds > options.limit:
            alone = processor_seconds(*commands[name])
            said += f"  ({alone:.1f} s of processor alone)"
            if alone > options.limit:
                faults.append(f"{name}: {alone:.1f} s, at most {options.limit:.0f}: split it, or move loops into kernels")
        print(said)

    headers = read_headers(build)
    cost = {header: users * lines_of(build, header) for header, users in headers.items()}
    print(f"\n{'lines':>10} {'objects':>8}  header (its own lines, once for each object)")
    for header, lines in sorted(cost.items(), key=lambda item: -item[1])[: options.top]:
        print(f"{lines:10d} {headers[header]:8d}  {header}")
    if options.json:
        rows = {"objects": objects, "headers": {h: [headers[h], cost[h]] for h in cost}}
        options.json.write_text(json.dumps(rows, indent=1))
    print("\n" + ("\n".join(faults) or "build cost: no object is above the limit"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
