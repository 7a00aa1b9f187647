"""`tessera doctor`: what of this machine works with Tessera, what does not, and what to do about it."""
import importlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from tessera.commands import options
from tessera.errors import TesseraError
from tessera.program import ROOT, find_program

PACKAGES = (("numpy", "reading results", True), ("h5py", "reading results", True), ("matplotlib", "pictures and reports", False),
            ("pandas", "history.to_pandas()", False), ("yt", "to_yt()", False))
DECK = """[simulation]
components = ["heat"]
[grid]
cells = [16, 1, 1]
patches = [2, 1, 1]
periodic = [true, false, false]
[time]
dt = 1e-4
max_steps = 10
[heat]
conductivity = 1.0
initial = "sin(2*pi*x)"
exact = "sin(2*pi*x) * (1 - 4 * 1e-4 * 16^2 * sin(pi/16)^2)^(t/1e-4)"
"""


def add(subparsers):
    parser = subparsers.add_parser("doctor", help="Say what of this machine works and what does not, with the fix",
                                   description="Looks at the machine, the program, MPI, GPUs, the disk and Python; runs a small deck "
                                               "whose answer is known, on one process and on two.",
                                   epilog="Exit codes: 0 all that a run needs works, 6 something of it does not.")
    parser.add_argument("--json", action="store_true", help="the table as JSON")
    parser.set_defaults(run=run)


def run(arguments):
    rows = [*machine(), *program(), *mpi(), *devices(), *disk(), *python()]
    options.print_table([{**row, "state": row["state"] if arguments.json else _coloured(row["state"])} for row in rows],
                        ("what", "state", "found"), arguments.json)
    if not arguments.json:
        for row in rows:
            if row["fix"] and row["state"] not in ("works", "none"):
                print(f"  fix  {row['what']}: {row['fix']}")
    return 6 if any(row["state"] == "fails" for row in rows) else 0


def _coloured(state):
    return options.colour(state, {"works": "32", "fails": "31;1"}.get(state, "33"))


def row(what, found, state="works", fix=""):
    return {"what": what, "state": state, "found": found, "fix": fix}


def machine():
    try:
        release = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        release = platform.system()
    names = re.findall(r"^model name\s*: (.*)$", _text("/proc/cpuinfo"), re.M)
    yield row("system", f"{release}, {platform.machine()}")
    yield row("processor", f"{names[0] if names else platform.processor()}, {len(os.sched_getaffinity(0))} core(s) for this process")
    available = re.search(r"MemAvailable:\s*(\d+)", _text("/proc/meminfo"))
    memory = int(available.group(1)) / 2**20 if available else 0.0
    yield row("memory", f"{memory:.1f} GiB free", "works" if memory > 1 else "poor", "close other programs; builds want 2 GiB a core")
    quota = _text("/sys/fs/cgroup/cpu.max").split()
    if quota and quota[0] != "max":
        yield row("CPU quota", f"{int(quota[0]) / int(quota[1]):g} cores of the control group")


def _text(path):
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _output(command, timeout=60):
    """(exit code, text) of a command; (None, why) where it cannot be run."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                              check=False, timeout=timeout)
        return done.returncode, done.stdout
    except (OSError, subprocess.TimeoutExpired) as problem:
        return None, str(problem)


def program():
    for name, purpose in (("g++", "builds"), ("cmake", "builds"), ("ninja", "builds")):
        found = shutil.which(name)
        version = _output([name, "--version"])[1].splitlines()[0] if found else "not there"
        yield row(name, version, "works" if found else "missing", f"./tessera setup installs it; only {purpose} need it")
    try:
        found = find_program()
    except TesseraError as problem:
        yield row("program", str(problem).splitlines()[0], "fails", "./tessera setup")
        return
    code, text = _output([found, "--version"])
    yield row("program", f"{text.splitlines()[0] if text else ''} ({found})", "works" if code == 0 else "fails", "./tessera setup")
    yield from answer(found, 1)


def answer(found, ranks):
    """A run whose discrete answer is known."""
    with tempfile.TemporaryDirectory() as folder:
        deck = Path(folder) / "deck.toml"
        deck.write_text(DECK)
        code, text = _output([found, "run", str(deck), "--out", f"{folder}/run", "-n", str(ranks)], timeout=120)
        error = re.search(r"heat\.error_max = (\S+)", text)
        what = f"a run on {ranks} process(es)"
        if code != 0 or error is None:
            lines = [line for line in text.splitlines() if "error" in line] or text.splitlines() or [""]
            yield row(what, f"exit code {code}: {lines[0]}", "fails", "tessera run says more; docs/user/exit_codes.md has the codes")
        elif float(error.group(1)) > 1e-12:
            yield row(what, f"wrong answer, off by {error.group(1)}", "fails", "the build or the machine is faulty: ./tessera test")
        else:
            yield row(what, f"right answer, to {float(error.group(1)):.1e}")


def mpi():
    found = shutil.which("mpiexec.mpich")
    if not found:
        yield row("MPI", "no mpiexec.mpich", "missing", "./tessera setup installs MPICH; one process works without it")
        return
    version = re.search(r"Version:\s*(\S+)", _output([found, "--version"])[1])
    yield row("MPI", f"MPICH {version.group(1) if version else ''} ({found})")
    try:
        yield from answer(find_program(), 2)
    except TesseraError:
        return


def devices():
    code, text = _output(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"])
    if code != 0:
        yield row("GPU", "none that nvidia-smi sees; runs use the CPU", "none")
        return
    for line in text.strip().splitlines():
        yield row("GPU", line)
    cuda = ROOT / "build/cuda/tools/tessera/tessera"
    yield row("program for GPUs", str(cuda) if cuda.exists() else "not built", "works" if cuda.exists() else "missing",
              "./tessera setup --preset cuda")


def disk():
    usage = shutil.disk_usage(".")
    free = usage.free / 2**30
    yield row("disk", f"{free:.1f} GiB free in this folder", "works" if free > 1 else "poor", "remove old run folders")
    writable = os.access(".", os.W_OK)
    yield row("this folder", "can be written" if writable else "cannot be written", "works" if writable else "fails",
              "run in another folder, or give --out")


def python():
    yield row("Python", platform.python_version())
    for name, purpose, needed in PACKAGES:
        try:
            yield row(name, importlib.import_module(name).__version__)
        except ImportError:
            fix = f"apt-get install python3-{name}" if name in ("yt", "pandas") else "./tessera setup --plot"
            yield row(name, f"not there; for {purpose}", "fails" if needed else "missing", fix)
    found = shutil.which("ffmpeg")
    yield row("ffmpeg", found or "not there; for .mp4", "works" if found else "missing", "./tessera setup --plot")
