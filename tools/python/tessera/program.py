"""Starting the program from Python: `run`, `sweep`. Results come back as run folders."""
import itertools
import os
import re
import shutil
import subprocess
from pathlib import Path

from tessera.errors import InputError, TesseraError, UsageError
from tessera.run_folder import Run

ROOT = Path(__file__).resolve().parents[3]


class RunFailed(TesseraError):
    """The program ended with another code than 0; `code`, `output` and `run` (None without a folder) tell more."""

    def __init__(self, code, output, run):
        lines = [line for line in output.splitlines() if line.strip()]
        super().__init__(f"the run ended with exit code {code}:\n" + "\n".join(lines[-15:]))
        self.code, self.output, self.run = code, output, run


def has_all_parts(build):
    """Whether a build has all components (cmake/TesseraParts.cmake); the launcher adds what a command needs to others."""
    cache = build / "CMakeCache.txt"
    if not cache.exists():
        return True
    parts = [line for line in cache.read_text().splitlines() if line.startswith("TESSERA_PARTS:")]
    return not parts or parts[0].endswith("=all")


def find_program():
    """The program `tessera`: of $TESSERA_PROGRAM, of this repository's build, of the install tree, or of the path."""
    named = os.environ.get("TESSERA_PROGRAM")
    if named:
        found = shutil.which(named)
        if found is None:
            raise UsageError(f"TESSERA_PROGRAM names {named}, which is not a program\n  fix  correct it, or unset it")
        return found
    built = ROOT / "build/release"
    for place in (built / "tools/tessera/tessera", ROOT / "bin/tessera"):
        if os.access(place, os.X_OK):
            return str(place if has_all_parts(built) else ROOT / "tessera")
    found = shutil.which("tessera")
    if found is None:
        raise InputError("the program tessera is not built and not on the path\n  fix  ./tessera setup builds it;"
                         " or name it: export TESSERA_PROGRAM=/where/it/is/tessera")
    return found


def toml_text(value):
    """A Python value as the right side of `--set KEY=...`.

        >>> toml_text([16, 16, 1]), toml_text(True), toml_text("k*t"), toml_text({"type": "dirichlet", "value": 0})
        ('[16, 16, 1]', 'true', '"k*t"', '{ type = "dirichlet", value = 0 }')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml_text(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)) or type(value).__name__ == "ndarray":
        return "[" + ", ".join(toml_text(item) for item in value) + "]"
    return repr(value.item() if hasattr(value, "item") else value)


def settings(overrides):
    """{'grid.cells': [8, 8, 1]} or {'grid__cells': ...} as arguments of the command line.

        >>> settings({"heat__conductivity": 2.0, "time.end": 0.5})
        ['--set', 'heat.conductivity=2.0', '--set', 'time.end=0.5']
    """
    arguments = []
    for key, value in overrides.items():
        arguments += ["--set", f"{key.replace('__', '.')}={toml_text(value)}"]
    return arguments


def run(deck, out=None, ranks=1, options=(), program=None, quiet=True, timeout=None, **overrides):
    """Runs a deck and gives its `Run`.

        run = tessera.run("inputs/heat/cosine.toml", time__end=0.01, grid__cells=[32, 32, 32])

    Values of the deck are replaced by keywords with two underscores for the dot, or by a dict:
    `**{"grid.cells": [32, 32, 32]}`. `out` names the run folder, `ranks` the processes, `options` what else the command
    line takes (["--trace"]). RunFailed with the program's message where it does not end with 0.
    """
    deck = Path(deck)
    if not deck.is_file():
        raise InputError(f"there is no deck {deck}\n  fix  give a .toml file; inputs/ has some")
    command = [program or find_program(), "run", *settings(overrides)]
    command += ["-n", str(ranks)] if ranks != 1 else []
    command += ["--out", str(out)] if out is not None else []
    command += [*map(str, options), str(deck)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          check=False, timeout=timeout)
    if not quiet:
        print(done.stdout, end="")
    folder = Path(out) if out is not None else _folder_in(done.stdout)
    found = Run(folder) if folder is not None and (folder / "deck.toml").is_file() else None
    if done.returncode != 0 or found is None:
        raise RunFailed(done.returncode, done.stdout, found)
    return found


def _folder_in(output):
    found = re.search(r"^run folder (.+): \d+ cells", output, re.M)
    return Path(found.group(1)) if found else None


def sweep(deck, out, program=None, ranks=1, options=(), timeout=None, **axes):
    """Runs a deck for each combination of values; gives [(values, Run)], in the order of the last axis first.

        runs = tessera.sweep("inputs/heat/cosine.toml", "sweep", heat__conductivity=[0.5, 1, 2])
        [(values["heat.conductivity"], run.history.last("heat.max")) for values, run in runs]

    The runs are folders `out/0000`, `out/0001` ...; one that is there already, and has ended well with the same values,
    is not run again, so a sweep that was stopped goes on.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    names = [name.replace("__", ".") for name in axes]
    runs = []
    for number, choice in enumerate(itertools.product(*axes.values())):
        values, folder = dict(zip(names, choice)), out / f"{number:04d}"
        wanted = "\n".join(settings(values))
        note = out / f"{number:04d}.values"
        if (folder / "result.json").is_file() and note.is_file() and note.read_text(encoding="utf-8") == wanted:
            runs.append((values, Run(folder)))
            continue
        if folder.exists():
            raise UsageError(f"{folder} is there already, from other values or from a run that did not end\n"
                             f"  fix  remove it, or choose another folder than {out}")
        runs.append((values, run(deck, folder, ranks, options, program, timeout=timeout, **values)))
        note.write_text(wanted, encoding="utf-8")
    return runs
