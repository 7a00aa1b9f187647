"""`tessera new`: a component of one's own, or a deck with every key."""
import json
import re
import subprocess
import sys
from pathlib import Path

from tessera.commands import options
from tessera.errors import InputError, OutputError, TesseraError, UsageError, nearest
from tessera.program import find_program, toml_text

TEMPLATES = Path(__file__).resolve().parents[1] / "templates" / "component"
FILES = {"CMakeLists.txt": "CMakeLists.txt", "component.cpp.in": "{}.cpp", "deck.toml": "{}.toml", "README.md": "README.md"}
FIRST = ("simulation", "units", "grid", "amr", "time")  # tables before that of the component, in the order of a deck


def add(subparsers):
    parser = subparsers.add_parser("new", help="Write a working component with a test, or a commented deck",
                                   description="component NAME: a folder with a component in one page, a deck, a test and a build "
                                               "of its own. deck COMPONENT: a deck with every key, its meaning and default.")
    parser.add_argument("what", metavar="component|deck")
    parser.add_argument("name", metavar="NAME", help="of the component: new, or one of `tessera list`")
    parser.add_argument("-o", "--out", metavar="PATH", help="[default: the folder NAME; the file NAME.toml]")
    parser.set_defaults(run=run)


def run(arguments):
    if arguments.what not in ("component", "deck"):
        raise UsageError(f"tessera new makes a component or a deck, no '{arguments.what}'"
                         + nearest(arguments.what, ["component", "deck"]))
    return new_component(arguments) if arguments.what == "component" else new_deck(arguments)


def new_component(arguments):
    name = arguments.name
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name):
        raise UsageError(f"'{name}' is not a valid name for a component: lower-case letters, digits and underscores, a letter first")
    folder = Path(arguments.out or name)
    if folder.exists():
        raise OutputError(f"{folder} is there already, and nothing is overwritten\n  fix  choose another place with -o")
    class_name = "".join(part.capitalize() for part in name.split("_"))
    try:
        folder.mkdir(parents=True)
        for template, target in FILES.items():
            text = (TEMPLATES / template).read_text(encoding="utf-8")
            text = text.replace("@NAME@", name).replace("@CLASS@", class_name)
            (folder / target.format(name)).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise OutputError(f"{folder} cannot be written: {problem.strerror}") from problem
    print(f"wrote {folder}: {', '.join(target.format(name) for target in FILES.values())}\n"
          f"next: {folder}/README.md builds and tests it")
    return 0


def schema():
    """What `tessera describe --format json-schema` says of all keys."""
    done = subprocess.run([find_program(), "describe", "--format", "json-schema"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TesseraError(f"the program could not describe its keys:\n{done.stderr.strip()}")
    return json.loads(done.stdout)["properties"]


def components():
    """Names of what `tessera list` has."""
    done = subprocess.run([find_program(), "list", "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TesseraError(f"the program could not list its components:\n{done.stderr.strip()}")
    return [row["name"] for row in json.loads(done.stdout)]


def shared_tables(tables, known):
    """Tables that every deck may have, in the order of a deck, with None for that of the component."""
    others = [name for name in tables if name not in known and name not in FIRST and name not in ("constants", "notes")]
    return [*FIRST, None, *others]


def new_deck(arguments):
    tables, known = schema(), components()
    if arguments.name not in known:
        raise InputError(f"there is no component '{arguments.name}'" + nearest(arguments.name, known))
    text = deck_text(tables, arguments.name, known)
    out = Path(arguments.out or f"{arguments.name}.toml")
    if out.exists():
        raise OutputError(f"{out} is there already, and nothing is overwritten\n  fix  choose another name with -o")
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise OutputError(f"{out} cannot be written: {problem.strerror}") from problem
    done = subprocess.run([find_program(), "check", out], capture_output=True, text=True, check=False)
    print(f"wrote {out}")
    if done.returncode != 0:
        print("some values are for you to choose; tessera check says:", file=sys.stderr)
        print(done.stdout + done.stderr, end="", file=sys.stderr)
    return 0


def deck_text(tables, component, known):
    """The deck: what is needed as values, everything else as comments with defaults."""
    lines = [f"# A deck for the component {component} with every key. Lines that begin with '# ' and a key show the default;",
             "# remove the '# ' to change it. `tessera check DECK` holds it against the program.", ""]
    given = {"simulation.title": f"A run of {component}", "simulation.components": [component], "grid.cells": [32, 32, 1],
             "grid.patch_size": [16, 16, 1],
             "time.max_steps": 20, "output.every_steps": 10}
    if not tables[component].get("properties") or component == "rmcrt":  # nothing that could limit a step
        given["time.dt"] = 1.0
    for table in shared_tables(tables, known):
        name = table or component
        if name in tables:
            lines += table_lines(name, tables[name], given)
    lines += ["# Numbers with names, for all expressions.", "[constants]", "# width = 0.1", ""]
    return "\n".join(lines)


def table_lines(name, table, given):
    lines = [f"# {table['description']}." if table.get("description") else "", f"[{name}]"]
    needed = set(required(table))
    late = []
    for key, about in flat(table):
        place = f"{name}.{key}"
        if about.get("type") == "array" and about.get("items", {}).get("type") == "object":
            late += ["", f"# {about.get('description', '')}", f"# [[{place}]]"]
            late += [f"# {inner} = {toml_text(item['default']) if 'default' in item else example(item)}    {remark(item)}"
                     for inner, item in flat(about["items"])]
            continue
        text = remark(about)
        if place in given:
            lines.append(f"{key} = {toml_text(given[place])}    {text}")
        elif "default" in about:
            lines.append(f"# {key} = {toml_text(about['default'])}    {text}")
        elif key in needed:
            lines.append(f"{key} = {example(about, key)}    {text}")
        else:
            lines.append(f"# {key} = {example(about, key)}    {text}, optional")
    return [line for line in lines if line] + late + [""]


def flat(table, before=""):
    """(key with dots, what is said of it) of a table and the tables in it."""
    for key, about in table.get("properties", {}).items():
        if about.get("type") == "object":
            yield from flat(about, f"{before}{key}.")
        else:
            yield before + key, about


def required(table, before=""):
    """The keys with dots that have to be given."""
    for key in table.get("required", []):
        about = table["properties"][key]
        if about.get("type") != "object":
            yield before + key
    for key, about in table.get("properties", {}).items():
        if about.get("type") == "object":
            yield from required(about, f"{before}{key}.")


def remark(about):
    text = about.get("description", "")
    if "enum" in about:
        text += "; one of " + ", ".join(map(str, about["enum"]))
    for key, word in (("exclusiveMinimum", "above"), ("minimum", "at least"), ("maximum", "at most")):
        if key in about:
            text += f"; {word} {options.shown(float(about[key]))}"
    return f"# {text}"


def example(about, key=""):
    """A value that the key could have, where there is no default."""
    kind = about.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if "enum" in about:
        return toml_text(about["enum"][0])
    if kind == "array":
        count = about.get("minItems", 1)
        return "[" + ", ".join([example(about.get("items", {}))] * count) + "]"
    if kind == "boolean":
        return "false"
    if "string" in kinds and "number" in kinds:
        return toml_text("1 + exp(-((x - 0.5)^2 + (y - 0.5)^2) / 0.1^2)") if key.startswith("initial") else "1.0"
    if kind == "string":
        return '""'
    lowest = about.get("minimum", about.get("exclusiveMinimum", 0))
    value = lowest if "minimum" in about else lowest + 1
    return toml_text(int(value) if kind == "integer" else float(value))
