"""`tessera convergence`: runs a deck at several resolutions; a table with orders, and a picture."""
from pathlib import Path

import numpy as np

from tessera.commands import options
from tessera.deck import Deck
from tessera.errors import UsageError
from tessera.program import sweep

MOST_COLUMNS = 9  # more are wider than a terminal


def add(subparsers):
    parser = subparsers.add_parser("convergence", help="Run a deck at several resolutions and tell the orders of convergence",
                                   description="Runs a deck that gives an exact solution with so many cells along its longest axis; "
                                               "the other axes and the patches keep their proportions.")
    parser.add_argument("deck", metavar="DECK", help="a deck with an `exact` solution")
    parser.add_argument("--cells", required=True, metavar="N,N,...", help="cells along the longest axis, for example 16,32,64")
    parser.add_argument("--set", metavar="TABLE.KEY=VALUE", action="append", default=[], help="replace a value of the deck")
    parser.add_argument("--dt", metavar="scale", choices=("keep", "h", "h2"), default="keep",
                        help="a fixed time.dt of the deck: keep it, or scale it with h or h2 [default: keep]")
    parser.add_argument("--out", metavar="DIR", help="the folder of the runs [default: DECK_convergence]; goes on where it was")
    parser.add_argument("--picture", metavar="FILE", help="[default: convergence.png in that folder]")
    parser.add_argument("--json", action="store_true", help="the table as JSON")
    parser.set_defaults(run=run)


def run(arguments):
    cells = [options.whole_number("--cells", text) for text in arguments.cells.split(",")]
    if len(cells) < 2 or any(b <= a for a, b in zip(cells, cells[1:])) or cells[0] < 1:
        raise UsageError(f"--cells {arguments.cells}: give at least two numbers that grow, for example 16,32,64")
    deck = Deck.read(arguments.deck)
    if not any(deck.get(f"{name}.exact") for name in deck.components):
        raise UsageError(f"{arguments.deck} gives no exact solution (key `exact` of its component), so there is no error"
                         " to look at")
    out = Path(arguments.out or f"{Path(arguments.deck).stem}_convergence")
    runs = []
    for n in cells:
        options.progress("resolution")(len(runs), len(cells))
        values = meshes(deck, n, arguments.dt)
        extra = [word for text in arguments.set for word in ("--set", text)]
        runs.append(sweep(arguments.deck, out / f"cells_{n}", options=extra, **{k: [v] for k, v in values.items()})[0][1])
    options.progress("resolution")(len(cells), len(cells))
    rows = table(runs, cells)
    shown = rows if arguments.json or len(rows[0]) <= MOST_COLUMNS else by_error(rows)
    options.print_table(shown, list(shown[0]), arguments.json)
    picture = Path(arguments.picture or out / "convergence.png")
    draw(rows, picture, deck.title, runs[0].history.units)
    if not arguments.json:
        print(f"wrote {picture}")
    return 0


def meshes(deck, n, dt):
    """The values of the deck for n cells along its longest axis."""
    base = [int(c) for c in deck.get("grid.cells", [])]
    if len(base) != 3:
        raise UsageError("the deck has no grid.cells, three numbers")
    longest = max(base)
    cells = [c if c == 1 else max(1, round(c * n / longest)) for c in base]
    for was, now in zip(base, cells):
        if was > 1 and now * longest != was * n:
            raise UsageError(f"{n} cells along the longest axis would make {was * n / longest:g} of {was} along another;"
                             f" choose numbers that keep {base} in proportion")
    values = {"grid.cells": cells}
    if deck.get("grid.patch_size"):
        sizes = [int(s) for s in deck.get("grid.patch_size")]
        values["grid.patch_size"] = [1 if c == 1 else max(1, min(c, round(s * n / longest))) for s, c in zip(sizes, cells)]
    if dt != "keep":
        if deck.get("time.dt") is None:
            raise UsageError("--dt scales time.dt, and the deck gives none; its steps follow the cells by themselves")
        factor = (longest / n) ** (1 if dt == "h" else 2)
        values["time.dt"] = float(deck.get("time.dt")) * factor
        if deck.get("time.max_steps") and deck.get("time.end") is None:
            values["time.max_steps"] = round(deck.get("time.max_steps") / factor)
    return values


def table(runs, cells):
    """Rows with each error and its order against the row before."""
    names = [name for name in runs[0].history.diagnostics if "error" in name.rpartition(".")[2]]
    if not names:
        raise UsageError("the history has no column of errors")
    several = len({name.rpartition(".")[0] for name in names}) > 1
    rows = []
    for n, run in zip(cells, runs):
        row = {"cells": n}
        for name in names:
            value = run.history.last(name)
            row[name] = value
            before = rows[-1][name] if rows else 0.0
            norm = name.rpartition("_")[2]
            what = f"{name.rpartition('.')[0].rpartition('.')[2]} {norm}" if several else norm
            row[f"order of {what}"] = (
                float(np.log(before / value) / np.log(n / rows[-1]["cells"])) if rows and value > 0 and before > 0 else None)
        rows.append(row)
    return rows


def by_error(rows):
    """A row for each error where there are many: its values and orders from left to right.

        >>> by_error([{"cells": 8, "a": 4.0, "order of a": None}, {"cells": 16, "a": 1.0, "order of a": 2.0}])
        [{'error': 'a', '8': 4.0, '16': 1.0, 'order at 16': 2.0}]
    """
    names = list(rows[0])[1:]
    lines = []
    for name, order in zip(names[0::2], names[1::2]):
        line = {"error": name}
        for n, row in enumerate(rows):
            line[str(row["cells"])] = row[name]
            if n > 0:
                line[f"order at {row['cells']}"] = row[order]
        lines.append(line)
    return lines


def draw(rows, path, title, units):
    """Errors over cells, with lines of order 1 and 2; a panel for each field. `units`: of the columns."""
    from tessera.field_file import with_unit
    from tessera.plots.style import printed, pyplot, save

    plt = pyplot()
    fields = {}
    for name in (key for key in rows[0] if key != "cells" and not key.startswith("order of")):
        fields.setdefault(name.rpartition(".")[0], []).append(name)
    figure, grid = plt.subplots(1, len(fields), figsize=(5.6 if len(fields) == 1 else 4.4 * len(fields), 4.4), squeeze=False)
    for axes, (field, names) in zip(grid[0], fields.items()):
        _draw_errors(axes, rows, names)
        axes.set_title(field if len(fields) > 1 else title, fontsize=10)
        axes.set_ylabel(printed(with_unit("error", units.get(names[0], ""))))
    if len(fields) > 1:
        figure.suptitle(title, fontsize=11)
    save(figure, path)


def _draw_errors(axes, rows, names):
    from matplotlib.ticker import NullLocator

    n = np.array([row["cells"] for row in rows], dtype=float)
    start = max(rows[0][name] for name in names)
    draw = axes.loglog if start > 0 else axes.semilogx  # an answer that is exact has no logarithm
    for name in names:
        draw(n, [row[name] for row in rows], "o-", label=name.rpartition(".")[2])
    for order, style in ((1, ":"), (2, "--")) if start > 0 else ():
        axes.loglog(n, start * (n / n[0]) ** -order, style, color="grey", linewidth=1, label=f"order {order}")
    axes.set_xticks(n, [str(int(v)) for v in n])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("cells along the longest axis")
    axes.grid(True, which="major")
    axes.legend(fontsize=8)
