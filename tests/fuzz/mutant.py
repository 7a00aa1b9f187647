"""One mutant of the campaign: a seed, a folder of its own, and the commands that are run in it."""
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

CODES = {0, 1, 2, 3, 4, 5, 6, 75}
TIMEOUT = 90.0  # of a machine that has nothing else to do
MOST_MEGABYTES = 1500
PLACE = re.compile(r"^\S.*: (error|warning): ", re.M)

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

# Behind it: numbers in a file of HDF5, and a plane.
ANALYSIS = """[analysis]
format = "hdf5"
[[analysis.line]]
name = "axis"
field = "temperature"
from = [0, 0.5, 0]
to = [1, 0.5, 0]
points = 9
[[analysis.plane]]
name = "cut"
fields = ["temperature"]
axis = "y"
at = 0.5
every_steps = 5
"""


def patience(seconds):
    """How long that may take where others want the cores as well."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class Failed(Exception):
    """What has to hold does not; the text says what."""


class Result:
    def __init__(self, code, err, megabytes, seconds):
        self.code, self.err, self.megabytes, self.seconds = code, err, megabytes, seconds


class CommandServer:
    """tests/fuzz/command_server.cpp: commands as forks of one process, a hundred times as fast as programs."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, folder, arguments):
        words = [str(len(arguments)), str(patience(TIMEOUT)), folder] + arguments
        self.process.stdin.write(b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in words))
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if len(answer) != 3:
            raise Failed("the command server itself has ended")
        code, kilobytes, seconds = answer
        if code == b"late":
            raise Failed(f"it did not end within {TIMEOUT:.0f} s")
        return int(code), int(kilobytes) / 1024.0, float(seconds)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Mutant:
    def __init__(self, kind, seed, program, stock, server=None):
        self.random = random.Random(f"{kind}:{seed}")
        self.program, self.stock, self.server = program, stock, server
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
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - process.begin > patience(TIMEOUT):
                os.killpg(process.pid, signal.SIGKILL)
                os.wait4(process.pid, 0)
                raise Failed(f"it did not end within {TIMEOUT:.0f} s")
            time.sleep(0.002)
        process.returncode = os.waitstatus_to_exitcode(status)
        return self.ended(process.returncode, usage.ru_maxrss / 1024.0, time.monotonic() - process.begin, allowed)

    def ended(self, code, megabytes, seconds, allowed):
        with open(self.path(".err"), "rb") as err:
            result = Result(code, err.read(1 << 20).decode("utf-8", "replace"), megabytes, seconds)
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
        """A command to its end; in a fork of the server where there is one, and it starts no ranks."""
        if self.server is None or shell is not None or "-n" in arguments or "--ranks" in arguments:
            return self.finish(self.start(arguments, shell), allowed)
        self.log.append(" ".join(repr(word) for word in arguments))
        code, megabytes, seconds = self.server.run(self.folder, arguments)
        return self.ended(code, megabytes, seconds, allowed)

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

    def damage_file(self, file):
        with open(file, "rb") as old:
            data = old.read()
        with open(file, "wb") as new:
            new.write(self.damage(data))

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)
