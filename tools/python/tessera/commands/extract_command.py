"""`tessera extract`: values on lines, planes, at points and in boxes, over time, as tables."""
import csv
import json
import sys

import numpy as np

from tessera.commands import options
from tessera.errors import OutputError, UsageError


def add(subparsers):
    parser = subparsers.add_parser("extract", help="Values on a line, a plane, at points or in a box, as a table",
                                   description="Writes values as CSV (or JSON) to standard output or a file. Every cell is taken at "
                                               "its finest level.")
    parser.add_argument("target", metavar="RUN|FILE", help="a run folder or a field file (.hdf)")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--line", metavar="A:B", help="the cells on a line: 0,0.5,0.5:1,0.5,0.5 or x or x@y=0.2,z=0.3")
    what.add_argument("--plane", metavar="AXIS=AT", help="the cells of a plane, at the size of the finest level: z=0.5")
    what.add_argument("--point", metavar="X,Y,Z", action="append", help="the cell of a point; repeat it for more")
    what.add_argument("--box", metavar="A:B", help="integral, mean, min and max in the box between two corners")
    parser.add_argument("--field", metavar="NAME", action="append", help="repeat it for more [default: all]")
    parser.add_argument("--time", default="last", metavar="WHEN", help="last, first, all, a time, step:N [default: last]")
    parser.add_argument("--json", action="store_true", help="JSON in the place of CSV")
    parser.add_argument("-o", "--out", metavar="FILE", help="[default: standard output]")
    parser.set_defaults(run=run)


def run(arguments):
    _, series = options.fields_of(arguments.target)
    rows = []
    files = options.chosen_times(series, arguments.time)
    for number, file in enumerate(files):
        options.progress("time")(number, len(files))
        names = [options.field_name(file, name) for name in arguments.field or file.names]
        for row in rows_of(file, names, arguments):
            rows.append({"time": file.time, "step": file.step, **row})
    options.progress("time")(len(files), len(files))
    try:
        stream = open(arguments.out, "w", newline="", encoding="utf-8") if arguments.out else sys.stdout
    except OSError as problem:
        raise OutputError(f"{arguments.out} cannot be written: {problem.strerror}") from problem
    try:
        if arguments.json:
            print(json.dumps(rows), file=stream)
        else:
            lines = csv.writer(stream)
            lines.writerow(rows[0])
            lines.writerows([repr(v) if isinstance(v, float) else v for v in row.values()] for row in rows)
    finally:
        if arguments.out:
            stream.close()
            print(f"wrote {arguments.out}, {len(rows)} line(s)")
    return 0


def rows_of(file, names, arguments):
    """The rows of one time, as dicts."""
    if arguments.line:
        lines = [file.line(name, *options.line_ends(file, arguments.line)) for name in names]
        for n in range(len(lines[0].s)):
            yield {"s": float(lines[0].s[n]), **_place(lines[0].points[n]), "level": int(lines[0].levels[n]),
                   **{name: float(line.values[n]) for name, line in zip(names, lines)}}
    elif arguments.plane:
        planes = [file.slice(name, *options.plane(arguments.plane)) for name in names]
        first, second = planes[0].centres(0), planes[0].centres(1)
        for i, j in np.argwhere(np.isfinite(planes[0].values)):
            yield {planes[0].axes[0]: float(first[i]), planes[0].axes[1]: float(second[j]),
                   **{name: float(plane.values[i, j]) for name, plane in zip(names, planes)}}
    elif arguments.point:
        places = [options.place("--point", text) for text in arguments.point]
        values = {name: file.points(name, places) for name in names}
        for n, place in enumerate(places):
            if np.isnan(values[names[0]][n]):
                lower, upper = file.bounds
                raise UsageError(f"the point {arguments.point[n]} is outside of the domain, {_text(lower)} to {_text(upper)}")
            yield {**_place(place), **{name: float(values[name][n]) for name in names}}
    else:
        yield from _box_rows(file, names, arguments.box)


def _box_rows(file, names, text):
    corners = text.split(":")
    if len(corners) != 2:
        raise UsageError(f"'{text}' is not a box; write two corners with a colon: 0,0,0:1,1,0.5")
    lower, upper = (np.array(options.place("--box", corner)) for corner in corners)
    for name in names:
        grid = file.covering_grid(name, None, lower, upper)
        # Cells that the box cuts count with the part that is inside.
        parts = []
        for a in range(3):
            h = (grid.upper[a] - grid.lower[a]) / grid.values.shape[a]
            edges = grid.lower[a] + h * np.arange(grid.values.shape[a] + 1)
            parts.append(np.minimum(edges[1:], upper[a]) - np.maximum(edges[:-1], lower[a]))
        volume = parts[0][:, None, None] * parts[1][None, :, None] * parts[2][None, None, :]
        inside = np.isfinite(grid.values)
        whole = float(volume[inside].sum())
        integral = float((grid.values * volume)[inside].sum())
        yield {"field": name, "volume": whole, "integral": integral, "mean": integral / whole,
               "min": float(grid.values[inside].min()), "max": float(grid.values[inside].max())}


def _place(point):
    return {axis: float(v) for axis, v in zip("xyz", point)}


def _text(point):
    return ",".join(f"{v:g}" for v in point)
