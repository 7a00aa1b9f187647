"""Decks made of what `tessera describe --format json-schema` lists: every key of every component, also of later ones."""
import json
import os
import subprocess

from bad_input import NUMBERS, random_expression
from mutant import Failed

SCHEMAS = {}
SIDES = ["x_low", "x_high", "y_low", "y_high", "z_low", "z_high"]
NAMES = ["a", "b", "c", "a", "b", "temperature", "gas", "diffusion", "diffusion.a", "gas.density", "u", "", "a b", "../a",
         "\u00e9", "x" * 300, "a/b"]
PLACES = ["x < 0.5", "x < 1/6 + t", "y > 0.25 && y < 0.75", "1", "0", "t > 0", "x > 2", "0/0", "sin(40*y)"]
VALUES = ["1", "x", "sin(t)", "1 + 0.1*x", "exp(-40*(x - 0.5)^2)", "x < 0.5 ? 1 : 0.125", "2 + y", "log(x)", "-1", "1/(x - 0.5)"]


def schema_of(program):
    if program not in SCHEMAS:
        text = subprocess.run([program, "describe", "--format", "json-schema"], check=True, capture_output=True,
                              stdin=subprocess.DEVNULL).stdout
        SCHEMAS[program] = json.loads(text)
    return SCHEMAS[program]


def number(rng, rule, whole):
    """One that the rule allows, mostly; small, so that the run is."""
    if rng.random() < 0.03:
        return rng.choice(NUMBERS)
    least = rule.get("minimum", rule.get("exclusiveMinimum", -2.0))
    most = min(rule.get("maximum", least + 8.0), least + 8.0)
    if whole:
        return str(rng.choice([int(most), *range(int(least), int(most) + 1)]))
    return rng.choice([repr(least), repr(most), "1.0", "0.5", repr(rng.uniform(least, most)), repr(rng.uniform(least, most))])


def text(rng, key):
    if key == "within":
        return rng.choice(PLACES)
    if key in ("name", "component", "field", "with", "fields", "watch", "title", "cpu", "gpu"):
        return rng.choice(NAMES[:3] if rng.random() < 0.8 else NAMES)
    return rng.choice(["90 %", "1 GB", "-1 %", "x"]) if key == "limit" else rng.choice(NAMES)


def expression(rng, key):
    if rng.random() < 0.5:
        return number(rng, {}, False)
    some = rng.random()
    return json.dumps(text(rng, key) if key == "within" and some < 0.9 else random_expression(rng) if some < 0.15 else
                      rng.choice(VALUES), ensure_ascii=False)


def value(rng, rule, key):
    """A value of TOML for a rule of the schema; now and then of another type."""
    if rng.random() < 0.01:
        return rng.choice(["true", "[]", "{}", "\"\"", "1", "1979-05-27"])
    if "enum" in rule:
        return json.dumps(rng.choice(rule["enum"]) if rng.random() < 0.98 else "other")
    kind = rule.get("type", "string")
    if isinstance(kind, list):
        return expression(rng, key)
    if kind == "boolean":
        return rng.choice(["true", "false"])
    if kind in ("integer", "number"):
        return number(rng, rule, kind == "integer")
    if kind == "array":
        count = rule.get("minItems", rng.choice([0, 1, 1, 2, 3])) + (rng.choice([-1, 1]) if rng.random() < 0.01 else 0)
        return "[" + ", ".join(value(rng, rule.get("items", {}), key) for _ in range(max(0, count))) + "]"
    return json.dumps(text(rng, key), ensure_ascii=False)


def keys_of(rng, rule, prefix, lines):
    """Lines of one table: what is required nearly always, of the rest some."""
    required = rule.get("required", [])
    properties = rule.get("properties", {})
    share = rng.choice([0.0, 0.1, 0.3])
    for key, of in properties.items():
        if of.get("type") == "array" and "properties" in of.get("items", {}):
            continue
        if of.get("type") == "object" and (key in required or rng.random() < 0.6 or "required" in of):
            keys_of(rng, of, prefix + key + ".", lines)
        elif of.get("type") != "object" and (rng.random() < 0.99 if key in required else rng.random() < share):
            lines.append(f"{prefix}{key} = {value(rng, of, key)}")


def table(rng, name, rule, lines):
    lines.append(f"[{name}]")
    keys_of(rng, rule, "", lines)
    for key, of in rule.get("properties", {}).items():
        items = of.get("items", {})
        if of.get("type") != "array" or "properties" not in items:
            continue
        for _ in range(rng.choice([1, 2, 3]) if name == "diffusion" and key == "quantity" else rng.choice([0, 0, 0, 1, 2])):
            lines.append(f"[[{name}.{key}]]")
            keys_of(rng, items, "", lines)


def grid(rng, lines):
    """Few cells: what a deck costs is not what is looked for here."""
    cells = [rng.choice([1, 2, 3, 4, 8, 16, 33]) if rng.random() < share else 1 for share in (0.95, 0.6, 0.2)]
    lines += ["[grid]", f"cells = {cells}"]
    if rng.random() < 0.7:
        lines.append(f"patch_size = {[rng.choice([1, 2, 4, 8]) if n < 9 else rng.choice([8, 5, n]) for n in cells]}")
    if rng.random() < 0.3:
        lines.append("periodic = [" + ", ".join(rng.choice(["true", "false"]) for _ in range(3)) + "]")


def whole_deck(rng, schema):
    physics = [name for name in schema["properties"] if name not in ("simulation", "grid", "time", "output", "checkpoint", "history",
                                                                     "analysis", "device", "solver", "constants", "notes")]
    chosen = rng.sample(physics, rng.choice([1, 1, 1, 1, 1, 2]))
    lines = ["[simulation]", f"components = {json.dumps(chosen)}"]
    if rng.random() < 0.95:
        grid(rng, lines)
    else:
        table(rng, "grid", schema["properties"]["grid"], lines)
    lines += ["[time]", "max_steps = 3"]
    if rng.random() < 0.5:
        keys_of(rng, {"properties": {key: of for key, of in schema["properties"]["time"]["properties"].items()
                                     if key != "max_steps"}}, "", lines)
    for name in ("output", "checkpoint", "history", "analysis", "device", "solver", *chosen):
        if name in chosen or rng.random() < 0.15:
            table(rng, name, schema["properties"][name], lines)
    return "\n".join(lines) + "\n"


def whole(m):
    """A deck; what `check` takes runs and restarts, and has the same bits on ranks and by any schedule."""
    rng = m.random
    m.write("deck.toml", whole_deck(rng, schema_of(m.program)))
    if m.run(["check", "deck.toml"], {0, 2}).code != 0:
        return
    # Never 2, since `check` has seen the deck; but that nothing moves, so that a step may have any length, is known
    # only when the fields are there.
    ran = m.run(["run", "deck.toml", "-q", "--threads", "1", "--out", "a"], {0, 2, 4, 6})
    code = ran.code
    if code == 2 and "nothing limits the time step" not in ran.err:
        raise Failed("`check` says nothing of what `run` refuses")
    what = rng.random()
    if code == 0 and what < 0.3:
        # 3: the deck wants no checkpoint.
        m.run(["restart", "a", "-q", "--threads", "1", "--set", "time.max_steps=5"],
              {0, 4} if os.listdir(m.path("a/checkpoints")) else {3})
    elif what < 0.7:
        m.run(["run", "deck.toml", "-q", "--executor", "virtual", "--seed", str(rng.randrange(1000)), "--ranks",
               rng.choice(["1", "2", "3"]), "--out", "b"], {code})
        if code == 0:
            m.run(["compare", "--exact", "a", "b"], {0})
    elif code == 0 and what < 0.8:
        m.run(["run", "deck.toml", "-q", "--device", "emulated", "--threads", "1", "--out", "b"], {0})
        m.run(["compare", "--exact", "a", "b"], {0})
    else:
        m.run(["info", "--verify", "a"], {0, 3})
