"""The commands of `tessera` that are written in Python: `python3 -m tessera COMMAND`, or `./tessera COMMAND`."""
import sys


def entry():
    """What the wheel installs as the program `tessera-results`."""
    from tessera.commands.parser import main

    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(entry())
