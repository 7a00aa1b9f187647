"""Kinds of bad input: decks, expressions, files of a run, traces, command lines."""
import glob
import gzip
import os
import re
import shutil

from mutant import SMALL

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DECKS = {}

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


def all_decks():
    for file in sorted(glob.glob(os.path.join(ROOT, "inputs", "**", "*.toml"), recursive=True)) if not DECKS else []:
        with open(file, encoding="utf-8") as text:
            DECKS[file] = text.read()
    return list(DECKS.values())


def deck(m):
    seeds = all_decks()
    m.write("deck.toml", mutate_deck(m.random, m.random.choice(seeds)))
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
    """Manifests, files of ranks; a restart from every other one."""
    restart = m.random.random() < 0.5
    names = sorted(os.path.relpath(file, m.stock) for file in glob.glob(os.path.join(m.stock, "checkpoints/ckpt-*/*")))
    file = m.path(os.path.join("run", m.random.choice(names)))
    if restart:
        m.take_run()
    else:
        part = os.path.join("checkpoints", os.path.basename(os.path.dirname(file)))
        shutil.copytree(os.path.join(m.stock, part), m.path(os.path.join("run", part)))
    m.damage_file(file)
    m.run(["info", os.path.dirname(file)], {0, 3})
    if restart:
        m.run(["restart", "run", "-q", "--threads", "1", "--set", "time.max_steps=13"], {0, 3})


def fields(m):
    original = m.random.choice(sorted(glob.glob(os.path.join(m.stock, "out", "*.hdf"))))
    file = m.path(os.path.basename(original))
    shutil.copyfile(original, file)
    m.damage_file(file)
    m.run(["info", file], {0, 3})
    m.run(["compare", "--exact", file, original], {0, 1, 3})


def history(m):
    """A history or a list of steps whose lines were changed, as a restart and a comparison read it."""
    m.take_run()
    m.damage_file(one_of(m, m.random.choice(["history.csv", "statistics.csv", "out/*.series", "analysis.hdf"])))
    if m.random.random() < 0.5:
        m.run(["restart", "run", "-q", "--threads", "1", "--set", "time.max_steps=12"], {0, 2, 3, 5})
    else:
        m.run(["compare", "run", m.stock], {0, 1, 3})


def folder(m):
    m.take_run()
    file = one_of(m, m.random.choice(["*.csv", "*.json", "*.jsonl", "*.toml", "out/*.series", "*.hdf", "planes/*"]))
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
