"""`tessera man`: the manual page, made from the help of all commands."""
from pathlib import Path

from tessera import __version__
from tessera.commands.words import all_commands
from tessera.errors import OutputError

CODES = (("0", "done; compare: equal"), ("1", "compare: different"), ("2", "the command line or the deck is wrong"),
         ("3", "an input is missing or damaged"), ("4", "numerical failure"), ("5", "something could not be written"),
         ("6", "failure of MPI, memory, a device, or of Tessera"), ("75", "stopped on request, with a checkpoint"))


def add(subparsers):
    parser = subparsers.add_parser("man", help="Print the manual page, for man(1)",
                                   description="Prints the page as troff: tessera man | man -l -")
    parser.add_argument("-o", "--out", metavar="FILE", help="for example /usr/local/share/man/man1/tessera.1")
    parser.set_defaults(run=run)


def run(arguments):
    text = page(all_commands())
    if not arguments.out:
        print(text, end="")
        return 0
    try:
        Path(arguments.out).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise OutputError(f"{arguments.out} cannot be written: {problem.strerror}") from problem
    print(f"wrote {arguments.out}")
    return 0


def escaped(text):
    """Text that troff takes as it is.

        >>> escaped("a-b .c \\\\n")
        'a\\\\-b .c \\\\en'
    """
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return ("\\&" + text) if text.startswith((".", "'")) else text


def page(commands):
    lines = [f'.TH TESSERA 1 "" "Tessera {__version__}"', ".SH NAME",
             "tessera \\- multiphysics on patches, by a task graph; and what people do with its results",
             ".SH SYNOPSIS", ".B tessera", ".I COMMAND", "[options]", ".SH COMMANDS"]
    for command in sorted(commands, key=lambda c: c.name):
        lines += [f".SS {escaped(command.name)}", escaped(command.summary) + ".", ".PP", f".RB {escaped(_one_line(command.usage))}"]
        for names, metavar, text in command.options:
            shown = ", ".join(f"\\fB{escaped(name)}\\fR" for name in names)
            lines += [".TP", shown + (f" \\fI{escaped(metavar)}\\fR" if metavar else ""), escaped(_one_line(text)) or "\\&"]
    lines += [".SH EXIT STATUS"]
    for code, meaning in CODES:
        lines += [".TP", f".B {code}", escaped(meaning)]
    lines += [".SH ENVIRONMENT", ".TP", ".B TESSERA_PROGRAM", "the program that commands in Python start", ".TP", ".B NO_COLOR",
              "no colours on a terminal"]
    return "\n".join(lines) + "\n"


def _one_line(text):
    return '"' + " ".join(text.split()).replace('"', "'") + '"' if text.startswith("tessera ") else " ".join(text.split())
