"""Kinds of bad moments and machines: signals, kills, limits, full disks, little shared memory."""
import os
import re
import signal
import time

from mutant import ANALYSIS, CODES, SMALL, Failed, patience

STOPS = ["TERM", "INT", "HUP", "USR1", "USR2", "XCPU"]
HEAT = """[heat]
conductivity = "1 + 0.5*x"
initial = "x*y"
"""
# Several kept variables and several plans a step: what a checkpoint has, and where a stop can come, differ.
OTHERS = {
    "diffusion": """[[diffusion.quantity]]
name = "a"
diffusivity = 1.0
initial = "x"
[[diffusion.quantity]]
name = "b"
diffusivity = 0.5
initial = "y"
axis = "x"
[[diffusion.boundary_part]]
side = "x_low"
component = "b"
within = "y < 0.5 + 0.1*t"
type = "given"
value = "1 + sin(t)"
""",
    "euler": """[euler]
stages = "rk3"
initial.density = "x < 0.5 ? 1 : 0.125"
initial.pressure = "x < 0.5 ? 1 : 0.1"
boundary.x_low.type = "reflect"
boundary.x_high.type = "reflect"
[[euler.scalar]]
name = "dye"
initial = "y"
"""}


def long_deck(rng):
    deck = SMALL.format(steps=100000000, every=rng.choice([7, 100]), initial="x*y") + "[history]\nevery_steps = 100\n"
    physics = rng.choice(["heat", *OTHERS])
    if physics == "heat":
        return deck + rng.choice(["", ANALYSIS])
    deck = deck.replace("[time]\n", f"[time]\nretries = {rng.randrange(4)}\n")
    return deck.replace("\"heat\"", f"\"{physics}\"").replace(HEAT, OTHERS[physics])


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
    m.write("long.toml", long_deck(rng))
    process = m.start(["run", "long.toml", "-q", "--threads", "1", "-n", str(ranks)])
    # A process that is hit before its first instruction is not yet the program.
    while not takes_signals(process.pid):
        time.sleep(0.001)
    time.sleep(rng.choice([rng.uniform(0.0, 0.3), rng.uniform(0.0, 1.5)]))
    below = processes_below(process.pid)
    everyone = [process.pid] + below
    kill = "KILL" in numbers
    targets = everyone if rng.random() < 0.3 else [rng.choice(everyone)] if rng.random() < 0.5 or kill else [process.pid]
    begin = time.monotonic()
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
        begin = time.monotonic()
        while left_over(below) and time.monotonic() - begin < patience(60):
            time.sleep(0.05)
    else:
        # On a machine that is busy two signals may be so far apart that they are two wishes.
        m.finish(process, expected | ({6} if len(numbers) > 1 and time.monotonic() - begin > 0.9 else set()))
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
                                ("-n", [8, 16, 24, 32, 48, 64, 100]), ("-s", [24, 64, 100, 512, 1024]),
                                ("-d", [5000, 20000, 30000, 60000, 100000])])
    m.write("deck.toml", SMALL.format(steps=5, every=1, initial="x") + rng.choice(["", ANALYSIS]))
    ranks = rng.choice([1, 1, 2])
    # 127: the system cannot even load the program. On a stack of 16 kB the loader dies before it begins, of
    # Python and others too.
    result = m.run(["run", "deck.toml", "-q", "--threads", rng.choice(["1", "2", "8"]), "-n", str(ranks)],
                   CODES | {126, 127}, shell=f"ulimit {which} {rng.choice(values)} || exit 0; exec \"$0\" \"$@\"")
    if result.code in (126, 127) and which != "-v":
        raise Failed("the program did not start")


def disk(m):
    rng = m.random
    m.write("deck.toml", SMALL.format(steps=12, every=rng.choice([1, 3]), initial="x") + rng.choice(["", ANALYSIS]))
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
