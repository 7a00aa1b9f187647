#!/usr/bin/env python3
"""A standing campaign of bad input and bad moments against the built program.

  tests/fuzz/campaign.py [--seconds 120] [--seed 1] [--kinds deck,signal] [PROGRAM]
  tests/fuzz/campaign.py --replay KIND:SEED [PROGRAM]     does one mutant again, and shows what came out

Each mutant has a seed of its own and does the same again. What has to hold of every one: no death by a signal, no
hang, no exit code outside of docs/user/exit_codes.md, no error without a place or a fix, bounded memory. Mutants of
the kinds `disk` and `memory` mount file systems, which needs root; they are left out elsewhere.
Ends with a table of the kinds and "N passed, N failed"; 1 where one failed.
"""
import argparse
import glob
import gzip
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CODES = {0, 1, 2, 3, 4, 5, 6, 75}
TIMEOUT = 90.0
MOST_MEGABYTES = 1500
PLACE = re.compile(r"^\S.*: (error|warning): ", re.M)
STOPS = ["TERM", "INT", "HUP", "USR1", "USR2", "XCPU"]

SMALL = """[simulation]
components = ["heat"]
[grid]
cells = [16, 12, 1]
patches = [3, 2, 1]
[time]
max_steps = {steps}
[heat]
conductivity = "1 + 0.5*x"
initial = "{initial}"
[output]
every_steps = {every}
[checkpoint]
every_steps = {every}
"""


class Failed(Exception):
    """What has to hold does not; the text says what."""


class Result:
    def __init__(self, code, out, err, megabytes, seconds):
        self.code, self.out, self.err, self.megabytes, self.seconds = code, out, err, megabytes, seconds


class Mutant:
    """One seed: a folder of its own, and the commands that are run in it."""

    def __init__(self, kind, seed, program, stock, verbose=False):
        self.random = random.Random(f"{kind}:{seed}")
        self.program, self.stock, self.verbose = program, stock, verbose
        self.folder = tempfile.mkdtemp(prefix="tessera-fuzz-")
        self.log = []
        self.megabytes = 0.0

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape"))

    def start(self, arguments, shell=None):
        command = [self.program] + arguments if shell is None else ["bash", "-c", shell, self.program] + arguments
        self.log.append(" ".join(repr(word) for word in command))
        out, err = open(self.path(".out"), "wb"), open(self.path(".err"), "wb")
        process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   start_new_session=True)
        process.begin = time.monotonic()
        return process

    def finish(self, process, allowed=CODES):
        deadline = time.monotonic() + TIMEOUT
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                os.killpg(process.pid, signal.SIGKILL)
                os.wait4(process.pid, 0)
                raise Failed(f"it did not end within {TIMEOUT:.0f} s")
            time.sleep(0.002)
        process.returncode = os.waitstatus_to_exitcode(status)
        with open(self.path(".out"), "rb") as out, open(self.path(".err"), "rb") as err:
            result = Result(process.returncode, out.read(1 << 20).decode("utf-8", "replace"),
                            err.read(1 << 20).decode("utf-8", "replace"), usage.ru_maxrss / 1024.0,
                            time.monotonic() - process.begin)
        self.megabytes = max(self.megabytes, result.megabytes)
        self.log.append(f"-> {result.code} after {result.seconds:.2f} s: {result.err[:600]}")
        self.judge(result, allowed)
        return result

    def judge(self, result, allowed):
        if result.code < 0 or result.code >= 128:
            raise Failed(f"it died of a signal: {result.code}")
        if result.code not in allowed:
            raise Failed(f"exit code {result.code} is none of {sorted(allowed)}")
        if result.code in (2, 3, 4, 5, 6) and not PLACE.search(result.err):
            raise Failed(f"code {result.code} without a message that names a place")
        if result.megabytes > MOST_MEGABYTES:
            raise Failed(f"it took {result.megabytes:.0f} MB")

    def run(self, arguments, allowed=CODES, shell=None):
        return self.finish(self.start(arguments, shell), allowed)

    def take_run(self):
        """A run folder that was made once, to be damaged."""
        shutil.copytree(self.stock, self.path("run"))

    def damage(self, data):
        """Flips, cuts, repeats or replaces something in bytes."""
        rng = self.random
        data = bytearray(data)
        for _ in range(rng.choice([1, 1, 1, 2, 5, 20])):
            if not data:
                break
            at = rng.randrange(len(data))
            what = rng.randrange(7)
            if what == 0:
                data[at] ^= 1 << rng.randrange(8)
            elif what == 1:
                data[at] = rng.choice([0, 0xFF, 0x7F, 0x80, rng.randrange(256)])
            elif what == 2:
                del data[at:at + rng.choice([1, 4, 100, len(data)])]
            elif what == 3:
                data[at:at] = data[at:at + rng.choice([1, 8, 200])] * rng.choice([1, 2, 50])
            elif what == 4:
                data[at:at + 8] = rng.choice([b"\xff" * 8, b"\0" * 8, b"\x7f" + b"\xff" * 7, b"\0\0\0\x80\0\0\0\0"])
            elif what == 5:
                end = min(len(data), at + rng.randrange(1, 64))
                data[at:end] = bytes(rng.randrange(256) for _ in range(end - at))
            else:
                number = rng.choice([b"1e999", b"-1", b"nan", b"9223372036854775808", b"0", b"1e-320", b"[" * 2000, b"{" * 500])
                data[at:at + rng.randrange(1, 12)] = number
        return bytes(data)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


NUMBERS = ["0", "-1", "1", "2", "3", "1e308", "-1e308", "1e-320", "nan", "inf", "-0.0", "4294967296",
           "9223372036854775807", "9223372036854775808", "0x10", "1_000", "1e400", "0.1", "1000000"]


def mutate_deck(rng, text):
    """Slips that people make, and a few that they do not."""
    lines = text.split("\n")
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        at = rng.randrange(len(lines))
        what = rng.randrange(9)
        if what == 0:
            del lines[at:at + 1]
            lines = lines or [""]
        elif what == 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif what == 2:
            lines[at] = re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", lambda m: rng.choice(NUMBERS), lines[at], count=rng.choice([1, 0]))
        elif what == 3 and lines[at]:
            k = rng.randrange(len(lines[at]))
            lines[at] = lines[at][:k] + rng.choice(["", "x", "]", "[", "\"", "=", ".", "\u00e9", "\x01", "#"]) + lines[at][k + 1:]
        elif what == 4:
            lines.insert(at, f"[{rng.choice(['grid', 'time', 'output', 'heat', 'wave', 'checkpoint', 'constants', 'a.b.c', 'device'])}]")
        elif what == 5:
            lines.insert(at, f"{rng.choice(['cells', 'dt', 'cfl', 'every', 'keep', 'fields', 'patch_size', 'end'])} = {rng.choice(NUMBERS + ['[1,2,3]', 'true', '[]', chr(34) + 'x' + chr(34)])}")
        elif what == 6:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif what == 7:
            lines[at] = lines[at] * rng.choice([2, 3])
        else:
            lines[at] = lines[at].replace("true", rng.choice(["false", "1", "True"])).replace("\"", rng.choice(["\"", "'", ""]))
    return "\n".join(lines)


def deck(m):
    seeds = sorted(glob.glob(os.path.join(ROOT, "inputs", "**", "*.toml"), recursive=True))
    with open(m.random.choice(seeds), encoding="utf-8") as file:
        text = file.read()
    m.write("deck.toml", mutate_deck(m.random, text))
    m.run(["check", "deck.toml"], {0, 2, 3})


def random_expression(rng, depth=0):
    if depth > 5 or rng.random() < 0.25:
        return rng.choice(["x", "y", "z", "t", "pi", "0", "1", "0.5", "1e308", "1e-320", "2", "x"])
    what = rng.randrange(8)
    a = random_expression(rng, depth + 1)
    b = random_expression(rng, depth + 1)
    if what < 3:
        return f"({a} {rng.choice(['+', '-', '*', '/', '^'])} {b})"
    if what == 3:
        return f"{rng.choice(['sin', 'cos', 'exp', 'log', 'sqrt', 'abs', 'floor', 'sign', 'tanh'])}({a})"
    if what == 4:
        return f"{rng.choice(['min', 'max', 'pow', 'mod', 'atan2'])}({a}, {b})"
    if what == 5:
        return f"if({a} {rng.choice(['<', '>', '==', '!=', '<=', '>='])} {b}, {a}, {b})"
    if what == 6:
        return f"({a} {rng.choice(['&&', '||'])} {b})"
    return f"({a} > {b} ? {a} : {b})"


def expression(m):
    text = random_expression(m.random)
    if m.random.random() < 0.4:
        text = m.damage(text.encode()).decode("latin-1").replace("\n", " ")
    m.write("deck.toml", SMALL.format(steps=1, every=1, initial=text.replace("\\", "").replace("\"", "")))
    if m.run(["check", "deck.toml"], {0, 2}).code == 0 and m.random.random() < 0.3:
        m.run(["run", "deck.toml", "-q", "--threads", "1"], {0, 2, 4})


def one_of(m, pattern):
    return m.random.choice(sorted(glob.glob(os.path.join(m.path("run"), pattern))))


def checkpoint(m):
    m.take_run()
    file = one_of(m, "checkpoints/ckpt-*/*")
    with open(file, "rb") as old:
        data = old.read()
    with open(file, "wb") as new:
        new.write(m.damage(data))
    m.run(["info", os.path.dirname(file)], {0, 3})
    m.run(["restart", "run", "-q", "--threads", "1", "--set", "time.max_steps=13"], {0, 3})


def fields(m):
    m.take_run()
    file = one_of(m, "out/*.hdf")
    with open(file, "rb") as old:
        data = old.read()
    with open(file, "wb") as new:
        new.write(m.damage(data))
    m.run(["info", file], {0, 3})
    m.run(["compare", "--exact", file, os.path.join(m.stock, "out", os.path.basename(file))], {0, 1, 3})


def folder(m):
    m.take_run()
    file = one_of(m, m.random.choice(["*.csv", "*.json", "*.jsonl", "*.toml", "out/*.series"]))
    with open(file, "rb") as old:
        data = old.read()
    os.unlink(file)
    what = m.random.randrange(12)
    if what == 0:
        os.mkfifo(file)
    elif what == 1:
        os.mkdir(file)
    elif what == 2:
        os.symlink("/etc/passwd", file)
    elif what == 3:
        with open(file, "wb") as new:
            new.truncate(8 << 30)
    elif what > 4:
        with open(file, "wb") as new:
            new.write(m.damage(data))
    m.run(["info", "--verify", "run"], {0, 3, 5})
    m.run(["restart", "run", "-q", "--threads", "1", "--set", "time.max_steps=13"], {0, 2, 3, 5})
    m.run(["compare", "run", m.stock], {0, 1, 3, 5})


def trace(m):
    with open(os.path.join(m.stock, "trace.json.gz"), "rb") as old:
        data = old.read()
    if m.random.random() < 0.7:
        text = gzip.decompress(data)[:60000]
        data = m.damage(text)
        if m.random.random() < 0.5:
            data = gzip.compress(data, 1)
    else:
        data = m.damage(data)
    m.write("trace.json.gz", data)
    m.run(["trace", "summary", "trace.json.gz"], {0, 3})


def command(m):
    rng = m.random
    words = ["run", "restart", "check", "describe", "graph", "compare", "info", "trace", "list", "summary", "--help", "-q",
             "deck.toml", "nothing", "--set", "time.cfl=0.5", "time.cfl", "=", "--threads", "1", "0", "-1", "nan", "--wall", "1s",
             "--from", "5", "--exact", "--abs", "1e-9", "--rel", "-n", "1", "--executor", "in-order", "virtual", "--seed", "7",
             "--out", "there", "--trace", "--halos", "scratch", "--device", "emulated", "cuda", "--checked", "--deep", "--ranks",
             "2", "--format", "json", "md", "--field", "temperature", "--watchdog", "inf", "\xff", "", "--log", "--verify"]
    m.write("deck.toml", SMALL.format(steps=2, every=1, initial="x"))
    arguments = [rng.choice(words[:9])] + [rng.choice(words) for _ in range(rng.randrange(0, 6))]
    m.run(arguments, {0, 1, 2, 3, 4, 5, 6, 75})


def processes_below(pid):
    found = []
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            for child in file.read().split():
                found.append(int(child))
                found.extend(processes_below(int(child)))
    except OSError:
        pass
    return found


def takes_signals(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            masks = re.findall(r"^(?:SigBlk|SigCgt):\s*([0-9a-f]+)", file.read(), re.M)
    except OSError:
        return True
    return any(int(mask, 16) >> (signal.SIGTERM - 1) & 1 for mask in masks)


def left_over(pids):
    return [pid for pid in pids if os.path.exists(f"/proc/{pid}") and
            open(f"/proc/{pid}/stat", encoding="latin-1").read().rsplit(")", 1)[1].split()[0] not in "ZX"]


def stopped(m, numbers, expected):
    """A job, some signals at a random moment to some of its processes, and a restart of what it left."""
    rng = m.random
    ranks = rng.choice([1, 2])
    m.write("long.toml", SMALL.format(steps=100000000, every=rng.choice([7, 100]), initial="x*y") +
            "[history]\nevery_steps = 100\n")
    process = m.start(["run", "long.toml", "-q", "--threads", "1", "-n", str(ranks)])
    # A process that is hit before its first instruction is not yet the program.
    while not takes_signals(process.pid):
        time.sleep(0.001)
    time.sleep(rng.choice([rng.uniform(0.0, 0.3), rng.uniform(0.0, 1.5)]))
    below = processes_below(process.pid)
    everyone = [process.pid] + below
    kill = "KILL" in numbers
    targets = everyone if rng.random() < 0.3 else [rng.choice(everyone)] if rng.random() < 0.5 or kill else [process.pid]
    for number in numbers:
        m.log.append(f"{number} to {targets} of {everyone}")
        for pid in targets:
            try:
                os.kill(pid, getattr(signal, "SIG" + number))
            except ProcessLookupError:
                pass
        time.sleep(0.02)
    if kill and process.pid in targets:
        os.wait4(process.pid, 0)
        end = time.monotonic() + 60
        while left_over(below) and time.monotonic() < end:
            time.sleep(0.05)
    else:
        m.finish(process, expected)
    rest = left_over(below)
    if rest:
        raise Failed(f"processes are left: {rest}")
    if not os.path.isdir(m.path("long")):
        return
    steps = [int(name[5:]) for name in os.listdir(m.path("long/checkpoints")) if re.fullmatch(r"ckpt-\d+", name)] if \
        os.path.isdir(m.path("long/checkpoints")) else []
    if not steps:
        return
    result = m.run(["restart", "long", "-q", "--threads", "1", "--set", f"time.max_steps={max(steps) + 3}"], {0})
    if result.code != 0:
        raise Failed("a checkpoint that is there does not load")


def stop(m):
    count = m.random.choice([1, 1, 2])
    name = m.random.choice(STOPS)
    stopped(m, [name] * count, {75, 0})


def kill(m):
    stopped(m, ["KILL"], {6, 75})


def limits(m):
    rng = m.random
    which, values = rng.choice([("-v", [50000, 120000, 200000, 400000, 800000]), ("-f", [4, 8, 64, 200, 4000]),
                                ("-n", [8, 16, 24, 32, 48, 64, 100]), ("-s", [16, 64, 100, 512, 1024]),
                                ("-d", [5000, 20000, 30000, 60000, 100000])])
    m.write("deck.toml", SMALL.format(steps=5, every=1, initial="x"))
    ranks = rng.choice([1, 1, 2])
    # 127: the system cannot even load the program; 134 and the like come from the loader as well.
    result = m.run(["run", "deck.toml", "-q", "--threads", rng.choice(["1", "2", "8"]), "-n", str(ranks)],
                   CODES | {126, 127}, shell=f"ulimit {which} {rng.choice(values)} || exit 0; exec \"$0\" \"$@\"")
    if result.code in (126, 127) and which != "-v":
        raise Failed("the program did not start")


def disk(m):
    rng = m.random
    m.write("deck.toml", SMALL.format(steps=12, every=rng.choice([1, 3]), initial="x"))
    size = rng.choice([40, 64, 100, 150, 220, 300, 500, 1000])
    nodes = rng.choice(["", "", ",nr_inodes=12", ",nr_inodes=30"])
    os.mkdir(m.path("disk"))
    m.run(["run", "deck.toml", "-q", "--threads", "1", "-n", str(rng.choice([1, 2])), "--out", "disk/run"], CODES - {1, 2, 3, 4},
          shell=f"unshare -m bash -c 'mount -t tmpfs -o size={size}k{nodes} x disk && exec \"$0\" \"$@\"' \"$0\" \"$@\"")


def memory(m):
    rng = m.random
    m.write("deck.toml", SMALL.format(steps=4, every=1, initial="x"))
    size = rng.choice(["4k", "1m", "4m", "8m", "16m", "64m"])
    ranks = rng.choice([1, 2, 3])
    result = m.run(["run", "deck.toml", "-q", "--threads", "1", "-n", str(ranks)], {0, 6},
                   shell=f"unshare -m bash -c 'mount -t tmpfs -o size={size} x /dev/shm && exec \"$0\" \"$@\"' \"$0\" \"$@\"")
    if result.code == 6 and "/dev/shm" not in result.err:
        raise Failed("a message that does not name /dev/shm")
    if result.code == 6 and ranks == 1:
        raise Failed("one rank does not need /dev/shm")


# Of a hundred mutants: the fast kinds often, those that start jobs seldom.
KINDS = {deck: 40, expression: 16, checkpoint: 6, fields: 6, folder: 4, trace: 10, command: 6, stop: 4, kill: 2,
         limits: 3, disk: 2, memory: 1}


def make_stock(program, place):
    with open(os.path.join(place, "stock.toml"), "w", encoding="utf-8") as file:
        file.write(SMALL.format(steps=10, every=5, initial="x*y"))
    subprocess.run([program, "run", "stock.toml", "-q", "--trace", "--threads", "2"], cwd=place, check=True,
                   stdin=subprocess.DEVNULL)
    return os.path.join(place, "stock")


def may_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default=os.path.join(ROOT, "build/release/tools/tessera/tessera"))
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1, help="of the first mutant; the next ones count up")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--replay", default="", metavar="KIND:SEED")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    by_name = {kind.__name__: kind for kind in KINDS}
    place = tempfile.mkdtemp(prefix="tessera-fuzz-stock-")
    try:
        stock = make_stock(program, place)
        if options.replay:
            name, seed = options.replay.split(":")
            return replay(by_name[name], int(seed), program, stock)
        names = options.kinds.split(",") if options.kinds else list(by_name)
        if not may_mount():
            names = [name for name in names if name not in ("disk", "memory")]
        return campaign([by_name[name] for name in names], options, program, stock)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def replay(kind, seed, program, stock):
    mutant = Mutant(kind.__name__, seed, program, stock)
    try:
        kind(mutant)
        print("\n".join(mutant.log), "\npassed")
        return 0
    except Failed as why:
        print("\n".join(mutant.log), f"\nFAILED: {why}; its folder is {mutant.folder}")
        return 1


def campaign(kinds, options, program, stock):
    passed, failed, seconds = {}, {}, {}
    megabytes = 0.0
    choose = random.Random(options.seed)
    seed = options.seed
    begin = time.monotonic()
    while time.monotonic() - begin < options.seconds:
        kind = choose.choices(kinds, [KINDS[k] for k in kinds])[0]
        name = kind.__name__
        mutant = Mutant(name, seed, program, stock)
        start = time.monotonic()
        try:
            kind(mutant)
            passed[name] = passed.get(name, 0) + 1
        except Failed as why:
            failed[name] = failed.get(name, 0) + 1
            print(f"FAILED {name}:{seed}: {why}\n  " + "\n  ".join(mutant.log), flush=True)
        seconds[name] = seconds.get(name, 0.0) + time.monotonic() - start
        megabytes = max(megabytes, mutant.megabytes)
        mutant.close()
        seed += 1
    for kind in kinds:
        name = kind.__name__
        print(f"{name:12} {passed.get(name, 0):8} passed {failed.get(name, 0):4} failed {seconds.get(name, 0.0):8.0f} s")
    print(f"at most {megabytes:.0f} MB, {time.monotonic() - begin:.0f} s, seeds {options.seed} to {seed - 1}")
    print(f"{sum(passed.values())} passed, {sum(failed.values())} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
