"""What goes wrong in a way that a user can mend."""


class TesseraError(Exception):
    """A sentence that says what is wrong and what to do about it.

    `code` is the exit code of the command line, as in docs/user/exit_codes.md: 2 for a wrong command line, 3 for an
    input that is missing or damaged, 5 for an output that cannot be written, 6 for a machine that lacks something.
    """

    code = 6


class UsageError(TesseraError):
    """A name, option or value that does not exist or does not fit."""

    code = 2


class InputError(TesseraError):
    """A file or folder that is missing or damaged."""

    code = 3


class OutputError(TesseraError):
    """A file that cannot be written."""

    code = 5


class MissingPackage(TesseraError):
    """A Python package that this machine does not have."""

    def __init__(self, package, purpose):
        super().__init__(f"{purpose} needs the Python package {package}, which this machine does not have.\n"
                         f"  fix  ./tessera setup --plot installs it from Debian (python3-{package}) and makes an"
                         " environment that finds it")


def nearest(name, known):
    """'; did you mean "temperature"?' or the list of what there is."""
    import difflib

    known = list(known)
    close = difflib.get_close_matches(str(name), known, n=1)
    if close:
        return f"; did you mean '{close[0]}'?"
    return "; there is " + (", ".join(known) if known else "none")
