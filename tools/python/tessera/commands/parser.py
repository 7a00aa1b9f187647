"""The command line: errors are sentences and exit codes those of docs/user/exit_codes.md."""
import argparse
import importlib
import os
import sys

from tessera.errors import TesseraError, nearest

COMMANDS = ("plot", "report", "extract", "export", "compare", "info", "convergence", "new", "doctor", "top", "gallery",
            "completion", "man")


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, with the way to the help, and ends with 2."""

    def error(self, message):
        print(f"tessera: error: {message}\n  fix  {self.prog} --help shows the options", file=sys.stderr)
        sys.exit(2)


def make_parser():
    parser = Parser(prog="tessera", description="What people do with the results of Tessera: pictures, reports, tables.",
                    epilog="Exit codes: 0 done, 1 compare: different, 2 usage, 3 missing or damaged input, 5 cannot write, "
                           "6 something is not installed.")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name in COMMANDS:
        importlib.import_module(f"tessera.commands.{name}_command").add(subparsers)
    return parser


def main(arguments):
    """Runs one command; gives its exit code."""
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        print(f"tessera: error: there is no command '{arguments[0]}' in Python" + nearest(arguments[0], COMMANDS),
              file=sys.stderr)
        return 2
    try:
        chosen = make_parser().parse_args(arguments)
        return chosen.run(chosen) or 0
    except TesseraError as error:
        print(f"tessera: error: {error}", file=sys.stderr)
        return error.code
    except MemoryError:
        print("tessera: error: there is not enough memory for this\n  fix  choose less, with --field, --level or --time",
              file=sys.stderr)
        return 6
    except RecursionError:
        print("tessera: error: a file or an expression is nested too deep", file=sys.stderr)
        return 3
    except BrokenPipeError:
        # `| head`: nobody reads on.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
