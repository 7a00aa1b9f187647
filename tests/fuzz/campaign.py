#!/usr/bin/env python3
"""A standing campaign of bad input and bad moments against the built program.

  tests/fuzz/campaign.py [--seconds 120 | --mutants 100000] [--seed 1] [--kinds deck,stop] [--jobs 2] [PROGRAM]
  tests/fuzz/campaign.py --replay KIND:SEED [PROGRAM]     does one mutant again, and shows what came out

Each mutant has a seed of its own and does the same again. What has to hold of every one: no death by a signal, no
hang, no exit code outside of docs/user/exit_codes.md, no error without a place or a fix, bounded memory. Mutants of
the kinds `disk` and `memory` mount file systems, which needs root; they are left out elsewhere.
Commands of one process are forks of tests/fuzz/command_server.cpp where that is built beside the tests; --programs
starts the program each time.
Ends with a table of the kinds and "N passed, N failed"; 1 where one failed.
"""
import argparse
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import bad_input
import bad_moments
import schema_decks
from mutant import ANALYSIS, SMALL, CommandServer, Failed, Mutant

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Of a hundred mutants of two minutes: the fast kinds often, those that start jobs seldom.
KINDS = {"deck": 30, "whole": 10, "expression": 16, "checkpoint": 6, "fields": 6, "folder": 4, "history": 4, "trace": 10, "command": 6,
         "stop": 4, "kill": 2, "limits": 3, "disk": 2, "memory": 1}
MOUNTS = ("disk", "memory")


def body_of(kind):
    return next(getattr(module, kind) for module in (bad_input, schema_decks, bad_moments) if hasattr(module, kind))


def make_stock(program, place):
    with open(os.path.join(place, "stock.toml"), "w", encoding="utf-8") as file:
        file.write(SMALL.format(steps=10, every=5, initial="x*y") + ANALYSIS)
    subprocess.run([program, "run", "stock.toml", "-q", "--trace", "--threads", "2"], cwd=place, check=True,
                   stdin=subprocess.DEVNULL)
    return os.path.join(place, "stock")


def may_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode == 0


def attempt(kind, seed, program, stock, server):
    """The mutant, and why it failed or an empty text."""
    mutant = Mutant(kind, seed, program, stock, server)
    try:
        body_of(kind)(mutant)
        return mutant, ""
    except Failed as why:
        return mutant, str(why)


def kind_of(seed, kinds):
    return random.Random(f"kind:{seed}").choices(kinds, [KINDS[kind] for kind in kinds])[0]


def work(job, options, kinds, program, stock, results):
    """One of several processes: seeds of its own, until all or the time are done."""
    server = CommandServer(options.server) if options.server else None
    begin = time.monotonic()
    try:
        for seed in range(options.seed + job, options.seed + options.mutants, options.jobs):
            if time.monotonic() - begin >= options.seconds:
                break
            kind = kind_of(seed, kinds)
            start = time.monotonic()
            mutant, why = attempt(kind, seed, program, stock, server)
            results.put((kind, seed, why, mutant.log if why else [], mutant.megabytes, time.monotonic() - start))
            mutant.close()
            if why and server:
                server = CommandServer(options.server)
    finally:
        results.put(None)


class Table:
    def __init__(self):
        self.passed, self.failed, self.seconds = {}, {}, {}
        self.megabytes, self.last = 0.0, 0

    def add(self, kind, seed, why, log, megabytes, seconds):
        count = self.failed if why else self.passed
        count[kind] = count.get(kind, 0) + 1
        self.seconds[kind] = self.seconds.get(kind, 0.0) + seconds
        self.megabytes = max(self.megabytes, megabytes)
        self.last = max(self.last, seed)
        if why:
            print(f"FAILED {kind}:{seed}: {why}\n  " + "\n  ".join(log), flush=True)

    def show(self, kinds, first, seconds):
        for kind in kinds:
            print(f"{kind:12} {self.passed.get(kind, 0):8} passed {self.failed.get(kind, 0):4} failed "
                  f"{self.seconds.get(kind, 0.0):8.0f} s")
        print(f"at most {self.megabytes:.0f} MB, {seconds:.0f} s, seeds {first} to {self.last}")
        print(f"{sum(self.passed.values())} passed, {sum(self.failed.values())} failed", flush=True)


def campaign(kinds, options, program, stock):
    results = multiprocessing.Queue()
    begin = time.monotonic()
    workers = [multiprocessing.Process(target=work, args=(job, options, kinds, program, stock, results))
               for job in range(options.jobs)]
    for worker in workers:
        worker.start()
    table = Table()
    shown = begin
    open_workers = len(workers)
    while open_workers > 0:
        result = results.get()
        if result is None:
            open_workers -= 1
        else:
            table.add(*result)
        if time.monotonic() - shown > options.report:
            shown = time.monotonic()
            table.show(kinds, options.seed, shown - begin)
    for worker in workers:
        worker.join()
    table.show(kinds, options.seed, time.monotonic() - begin)
    return 1 if table.failed else 0


def replay(kind, seed, program, stock):
    mutant, why = attempt(kind, seed, program, stock, None)
    print("\n".join(mutant.log), f"\nFAILED: {why}; its folder is {mutant.folder}" if why else "\npassed")
    return 1 if why else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default=os.path.join(ROOT, "build/release/tools/tessera/tessera"))
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--mutants", type=int, default=1 << 40)
    parser.add_argument("--seed", type=int, default=1, help="of the first mutant; the next ones count up")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--report", type=float, default=1e9, help="a table so far, each time after so many seconds")
    parser.add_argument("--programs", action="store_true", help="start a program for each command")
    parser.add_argument("--replay", default="", metavar="KIND:SEED")
    options = parser.parse_args()
    if options.seconds is None:
        options.seconds = 120.0 if options.mutants == 1 << 40 else 1e9
    build = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(options.program))))
    server = os.path.join(build, "tests", "tessera_command_server")
    options.server = server if os.path.exists(server) and not options.programs else ""
    return options


def main():
    options = arguments()
    program = os.path.abspath(options.program)
    place = tempfile.mkdtemp(prefix="tessera-fuzz-stock-")
    try:
        stock = make_stock(program, place)
        if options.replay:
            name, seed = options.replay.split(":")
            return replay(name, int(seed), program, stock)
        kinds = options.kinds.split(",") if options.kinds else list(KINDS)
        if not may_mount():
            kinds = [kind for kind in kinds if kind not in MOUNTS]
        return campaign(kinds, options, program, stock)
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
