"""Options that several commands share, and how tables and progress are shown."""
import json
import math
import os
import sys

from tessera.errors import InputError, UsageError, nearest
from tessera.field_file import FieldFile
from tessera.run_folder import Run, Series, load
from tessera.sampling import AXES, component


def fields_of(target):
    """(Run or None, Series or list of FieldFile) of a run folder, a folder of field files, a .series or a field file."""
    opened = load(target)
    if isinstance(opened, Run):
        if not opened.fields:
            raise InputError(f"{target} has no fields in out/\n  fix  give the deck an [output] table with `fields` and"
                             " `every`, or wait until the run has written the first")
        return opened, opened.fields
    if isinstance(opened, Series):
        if not opened:
            raise InputError(f"{target} has no field files")
        return None, opened
    if isinstance(opened, FieldFile):
        return None, [opened]
    raise UsageError(f"{target} has no fields; give a run folder or a field file (.hdf)")


def field_name(file, name):
    """The field asked for; the first one where none was."""
    if not file.fields:
        raise InputError(f"{file.path} has no fields; name some in the deck: [output] fields = [...]")
    if name is None:
        return file.names[0]
    plain = component(name)[0]
    file.field(plain if plain in file.names else name)
    return name


def chosen_times(series, text):
    """The files that `--time` names: all, last, first, step:N, or a time, or several with commas."""
    if text == "all":
        return [series[n] for n in range(len(series))] if not isinstance(series, list) else series
    chosen = []
    for part in text.split(","):
        if part in ("last", "first"):
            chosen.append(series[-1 if part == "last" else 0])
        elif part.startswith("step:") and isinstance(series, Series):
            chosen.append(series.step(whole_number("--time", part[5:])))
        else:
            time = number("--time", part, "all, last, first, step:N or a time")
            chosen.append(series.at(time) if isinstance(series, Series) else series[0])
    return chosen


def number(option, text, wanted="a number", infinite=False):
    """A float; one that is not finite is none, but for an infinite one where that has a meaning."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) and not (infinite and math.isinf(value)):
        raise UsageError(f"'{text}' is not a value for {option}; give {wanted}")
    return value


def whole_number(option, text):
    if not str(text).lstrip("-").isdigit():
        raise UsageError(f"'{text}' is not a value for {option}; give a whole number")
    return int(text)


def plane(text):
    """'z=0.5' -> ('z', 0.5); 'z' -> ('z', None)."""
    axis, _, at = text.partition("=")
    if axis not in tuple(AXES):
        raise UsageError(f"'{text}' is not a plane; write for example --slice z=0.5, or --slice z for the middle")
    return axis, number("--slice", at) if at else None


def place(option, text):
    """'0,0.5,0.5' -> three floats."""
    parts = text.split(",")
    if len(parts) != 3:
        raise UsageError(f"'{text}' is not a point for {option}; write three numbers with commas: 0,0.5,0.5")
    return [number(option, part) for part in parts]


def line_ends(file, text):
    """'0,0.5,0.5:1,0.5,0.5', or 'x' for the middle along x, or 'x@y=0.2,z=0.3'."""
    from tessera.plots.lines import default_line

    if ":" in text:
        parts = text.split(":")
        if len(parts) != 2:
            raise UsageError(f"'{text}' is not a line; write two points with a colon: 0,0.5,0.5:1,0.5,0.5")
        return place("--line", parts[0]), place("--line", parts[1])
    axis, _, where = text.partition("@")
    if axis not in tuple(AXES):
        raise UsageError(f"'{text}' is not a line; write two points (0,0.5,0.5:1,0.5,0.5), an axis (x), or an axis with the"
                         " place of the others (x@y=0.2,z=0.3)")
    start, end = default_line(file, axis)
    for part in filter(None, where.split(",")):
        other, at = plane(part)
        if at is None or other == axis:
            raise UsageError(f"'{part}' of the line '{text}' is not a place beside {axis}; write for example x@y=0.2,z=0.3")
        start[AXES.index(other)] = end[AXES.index(other)] = at
    return list(start), list(end)


def limits(text):
    """'0:1' -> (0.0, 1.0)."""
    if text is None:
        return None
    low, colon, high = text.partition(":")
    if not colon:
        raise UsageError(f"'{text}' is not a range; write for example --range 0:1")
    pair = number("--range", low), number("--range", high)
    if pair[0] >= pair[1]:
        raise UsageError(f"the range {text} is empty; write the smaller number first")
    return pair


def progress(what):
    """A function (done, all) that draws one line on a terminal and nothing elsewhere."""
    def show(done, total):
        if sys.stderr.isatty():
            print(f"\r{what} {done} of {total}" + ("\n" if done == total else ""), end="", file=sys.stderr, flush=True)
    return show


def colour(text, code):
    """The text in a colour, on a terminal that wants colours."""
    wanted = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return f"\033[{code}m{text}\033[0m" if wanted else text


def print_table(rows, columns, as_json=False, stream=None):
    """Rows (dicts) as a table with right-aligned numbers, or as JSON."""
    stream = stream or sys.stdout
    if as_json:
        print(json.dumps([{key: _plain(row.get(key)) for key in columns} for row in rows], indent=1), file=stream)
        return
    cells = [[shown(row.get(key)) for key in columns] for row in rows]
    widths = [max([len(str(key)), *[len(line[n]) for line in cells]]) for n, key in enumerate(columns)]
    is_number = [all(isinstance(row.get(key), (int, float)) or row.get(key) is None for row in rows) for key in columns]
    pad = lambda text, n: text.rjust(widths[n]) if is_number[n] else text.ljust(widths[n])  # noqa: E731
    print("  ".join(pad(str(key), n) for n, key in enumerate(columns)).rstrip(), file=stream)
    for line in cells:
        print("  ".join(pad(text, n) for n, text in enumerate(line)).rstrip(), file=stream)


def shown(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def _plain(value):
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def column_of(table, name):
    """The column asked for, in a sentence where it is not there."""
    if name not in table:
        raise UsageError(f"the history has no column '{name}'" + nearest(name, table.names))
    return table[name]
