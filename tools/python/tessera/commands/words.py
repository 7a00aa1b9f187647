"""All commands with their options: those of the program from its own help, those of Python from their parsers."""
import re
import subprocess
from dataclasses import dataclass, field

from tessera.errors import TesseraError
from tessera.program import find_program


@dataclass
class Command:
    """One command; `options` are (names, metavar, help)."""

    name: str
    summary: str
    usage: str = ""
    options: list = field(default_factory=list)


def _help(*words):
    done = subprocess.run([find_program(), *words, "--help"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TesseraError(f"the program gave no help on {' '.join(words) or 'its commands'}:\n{done.stderr.strip()}")
    return done.stdout


def program_commands():
    """Commands of the program: CLI11's help is a table of two columns, continued on deeper lines."""
    text = _help()
    part = text[text.index("Subcommands:"):]
    for name, summary in re.findall(r"^  (\w+) {2,}(.*)$", part, re.M):
        own = _help(name)
        usage = re.search(r"^Usage: (.*)$", own, re.M)
        command = Command(name, summary, usage.group(1) if usage else f"tessera {name}")
        own = own[own.index("Options:"):] if "Options:" in own else ""
        for names, metavar, first, rest in re.findall(r"^  (-\S+)(?: (.*?))??(?: {2,}(\S.*)|\n {10,}(\S.*))$", own, re.M):
            # CLI11 writes R:1..64=1 and --no-bind{false}: the range and what it sets are not for here.
            names = [name.partition("{")[0] for name in names.split(",")]
            shown = re.split(r"[:= ]", (metavar or "").strip())[0]
            command.options.append((names, shown, (first or rest).strip()))
        yield command


def python_commands():
    """Commands of this package."""
    from tessera.commands.parser import make_parser

    choices = make_parser()._subparsers._group_actions[0]
    summaries = {action.dest: action.help for action in choices._choices_actions}
    for name, parser in choices.choices.items():
        command = Command(name, summaries[name], parser.format_usage().removeprefix("usage: ").strip())
        for action in parser._actions:
            if action.option_strings:
                shown = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
                command.options.append((action.option_strings, shown, action.help or ""))
        yield command


def launcher_commands():
    """Commands of ./tessera that are scripts."""
    yield Command("setup", "Set the machine up and build", "tessera setup [--help]")
    yield Command("test", "Build the tests and run them", "tessera test [--help]")
    yield Command("bundle", "Pack the program for a machine offline", "tessera bundle DIR")


def all_commands():
    """Each command once; options of both, where the program and Python know it (compare)."""
    found = {}
    for command in (*program_commands(), *python_commands(), *launcher_commands()):
        known = found.setdefault(command.name, command)
        if known is not command:
            names = {name for option in known.options for name in option[0]}
            known.options += [option for option in command.options if not names & set(option[0])]
    return list(found.values())
