"""Time series of history.csv."""
import numpy as np

from tessera.errors import UsageError
from tessera.field_file import with_unit
from tessera.plots.style import LINES, printed, pyplot

MOST_COLUMNS = 36  # more could not be read


def history_figure(tables, columns=None, log=False, title="", time_unit="time"):
    """One panel for each column over time; `tables` is {label: Table}, for example of several runs. Of a column that hardly
    changes the change is shown."""
    plt = pyplot()
    first = next(iter(tables.values()))
    if columns is not None and len(columns) > MOST_COLUMNS:
        raise UsageError(f"{len(columns)} columns do not fit into one picture; choose at most {MOST_COLUMNS}")
    known = first.diagnostics or ["dt"]
    if not columns and len(known) > MOST_COLUMNS:
        title = ", ".join(filter(None, [title, f"{MOST_COLUMNS} of {len(known)} columns"]))
    columns = list(columns or known[:MOST_COLUMNS])
    across = 1 if len(columns) == 1 else 2 if len(columns) <= 12 else 3
    rows = -(-len(columns) // across)
    figure, grid = plt.subplots(rows, across, figsize=(5.4 * across, 2.7 * rows), squeeze=False, sharex=True)
    for place, column in enumerate(columns):
        axes = grid[place // across][place % across]
        begin = float(first[column][0]) if not log and _is_nearly_constant(tables, column) else 0.0
        for number, (label, table) in enumerate(tables.items()):
            values = table[column] - begin
            axes.plot(table["time"], values, "-" if len(values) > 60 else ".-", color=LINES[number % len(LINES)],
                      linewidth=1.2, markersize=3, label=label)
        is_error = begin == 0.0 and "error" in column and all((np.asarray(t[column]) > 0).all() for t in tables.values())
        axes.set_yscale("log" if (log or is_error) and _positive(tables, column) else "linear")
        if axes.get_yscale() == "linear":
            axes.ticklabel_format(axis="y", scilimits=(-4, 5))
        shown = f"{column} - {begin:.10g}" if begin else column
        axes.set_title(printed(with_unit(shown, first.unit(column))), fontsize=10, loc="right")
        axes.locator_params(axis="x", nbins=6)  # longer numbers would touch
        axes.grid(True)
        if len(tables) > 1 and place == 0:
            axes.legend(fontsize=8)
    for place in range(max(0, len(columns) - across), len(columns)):
        grid[place // across][place % across].set_xlabel(printed(with_unit("time", time_unit)))
        grid[place // across][place % across].tick_params(labelbottom=True)
    for empty in range(len(columns), rows * across):
        grid[empty // across][empty % across].axis("off")
    if title:
        figure.suptitle(title, fontsize=11)
    return figure


def _is_nearly_constant(tables, column):
    values = np.concatenate([np.asarray(table[column]) for table in tables.values()])
    return bool(values.size) and 0.0 < np.ptp(values) < 1e-4 * np.max(np.abs(values))


def _positive(tables, column):
    return any((np.asarray(table[column]) > 0).any() for table in tables.values())
