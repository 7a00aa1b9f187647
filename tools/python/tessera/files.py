"""Files of a run folder, which may be damaged, of any size, or something else than files: InputError says so."""
import json
import stat
import zlib
from contextlib import contextmanager
from pathlib import Path

from tessera.errors import InputError, MissingPackage

MEGABYTE = 1 << 20
# Far above what a run writes in years; below what would fill the memory of a laptop.
MOST_TEXT = 1024 * MEGABYTE
MOST_JSON = 256 * MEGABYTE
MOST_EXPANSION = 100


def read_bytes(path, most=MOST_TEXT):
    """All of a plain file of at most `most` bytes; a pipe is refused without waiting for its writer."""
    path = Path(path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{path} cannot be read: it is not a regular file\n  fix  remove it")
        if status.st_size > most:
            raise InputError(f"{path} cannot be read: it has {status.st_size // MEGABYTE} MB, and no run makes more than"
                             f" {most // MEGABYTE}; it is damaged")
        return path.read_bytes()
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror}") from problem


def read_text(path, most=MOST_TEXT):
    """The text of a file; what is no UTF-8 is replaced."""
    return read_bytes(path, most).decode("utf-8", "replace")


def parse_json(text, kind, path):
    """A value of JSON that is a `kind` (dict or list); brackets nested deeper than Python can follow are damage."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path} is damaged: {problem}") from problem
    if not isinstance(value, kind):
        raise InputError(f"{path} is damaged: it holds a {type(value).__name__} in the place of a {kind.__name__}")
    return value


def read_json(path):
    """The object (a dict) that a file of JSON holds."""
    return parse_json(read_bytes(path, MOST_JSON), dict, path)


def hdf5_package(purpose):
    """The package h5py."""
    try:
        import h5py
    except ImportError as missing:
        raise MissingPackage("h5py", purpose) from missing
    return h5py


@contextmanager
def damage_of(path):
    """Errors of libraries and of what does not fit become one: this file is damaged."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RuntimeError, TypeError,
            ValueError) as problem:
        raise InputError(f"{path} is damaged: {problem}\n  fix  take another one; tessera info --verify RUN tells which"
                         " files of a run are whole") from problem


def expand(data, path):
    """What gzip made smaller; a file that was made to fill memory is refused as `tessera trace` refuses it."""
    unpack = zlib.decompressobj(wbits=31)
    try:
        text = unpack.decompress(data, max(MOST_EXPANSION * len(data), MEGABYTE))
    except zlib.error as problem:
        raise InputError(f"{path} is damaged: {problem}") from problem
    if unpack.unconsumed_tail:
        raise InputError(f"{path} is damaged: it would be more than {MOST_EXPANSION} times as long without compression")
    if not unpack.eof:
        raise InputError(f"{path} is damaged: it ends too early")
    return text
