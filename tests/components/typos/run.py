#!/usr/bin/env python3
"""run.py COMMANDS FOLDER: compiles each source of FOLDER as COMMANDS (compile_commands.json) compiles the components.

A source says in a line "// says: SENTENCE" what the compiler has to say of the mistake in it, in an error or a note
among the first ten messages; "// says: nothing" is for a source without a mistake. Exit code 1 where it is not so.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys


def compiler(commands):
    """The command that compiles kernels of a component, without its source, its output and the places it is for."""
    for entry in json.loads(pathlib.Path(commands).read_text()):
        if entry["file"].endswith("components/heat/heat_kernels.cpp"):
            words = shlex.split(entry["command"])
            at = words.index("-o")
            return [w for w in words[:at] + words[at + 2:]
                    if w not in ("-c", entry["file"]) and "ccache" not in w and not w.startswith("-DTESSERA_KERNELS")]
    sys.exit(f"{commands}: no command compiles components/heat/heat_kernels.cpp")


def fault(command, source):
    """What is wrong with what the compiler says of a source; empty where nothing is."""
    expected = re.search(r"^// says: (.*)$", source.read_text(), re.M).group(1)
    result = subprocess.run(command + ["-fsyntax-only", str(source)], capture_output=True, text=True,
                            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    if expected.startswith("nothing"):
        return result.stderr if result.returncode else ""
    if not result.returncode:
        return "it compiles"
    messages = re.findall(r"(?:error|note): (.*)", result.stderr)
    if any(expected in message for message in messages[:10]):
        return ""
    return "the compiler says\n" + result.stderr


def main():
    command = compiler(sys.argv[1])
    sources = sorted(pathlib.Path(sys.argv[2]).glob("*.cpp"))
    if len(sources) < 2:
        sys.exit(f"{sys.argv[2]}: no sources")
    faults = {source: fault(command, source) for source in sources}
    for source, text in faults.items():
        if text:
            print(f"{source}: {text}")
    failed = sum(1 for text in faults.values() if text)
    print(f"{len(faults) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
