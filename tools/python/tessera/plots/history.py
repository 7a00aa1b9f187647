"""Time series of history.csv."""
import numpy as np

from tessera.errors import UsageError
from tessera.plots.style import LINES, pyplot


def history_figure(tables, columns=None, log=False, title=""):
    """One panel for each column over time; `tables` is {label: Table}, for example of several runs."""
    plt = pyplot()
    first = next(iter(tables.values()))
    columns = list(columns or first.diagnostics or ["dt"])
    if len(columns) > 24:
        raise UsageError(f"{len(columns)} columns do not fit into one picture; choose some: --history NAME NAME")
    rows = -(-len(columns) // 2) if len(columns) > 1 else 1
    across = 2 if len(columns) > 1 else 1
    figure, grid = plt.subplots(rows, across, figsize=(5.4 * across, 2.7 * rows), squeeze=False, sharex=True)
    for place, column in enumerate(columns):
        axes = grid[place // across][place % across]
        for number, (label, table) in enumerate(tables.items()):
            values = table[column]
            axes.plot(table["time"], values, "-" if len(values) > 60 else ".-", color=LINES[number % len(LINES)],
                      linewidth=1.2, markersize=3, label=label)
        is_error = "error" in column and all((np.asarray(t[column]) > 0).all() for t in tables.values())
        axes.set_yscale("log" if (log or is_error) and _positive(tables, column) else "linear")
        if axes.get_yscale() == "linear":
            axes.ticklabel_format(axis="y", useOffset=_is_nearly_constant(tables, column), scilimits=(-4, 5))
        axes.set_title(column, fontsize=10)
        axes.grid(True)
        if len(tables) > 1 and place == 0:
            axes.legend(fontsize=8)
    for place in range(max(0, len(columns) - across), len(columns)):
        grid[place // across][place % across].set_xlabel("time")
        grid[place // across][place % across].tick_params(labelbottom=True)
    for empty in range(len(columns), rows * across):
        grid[empty // across][empty % across].axis("off")
    if title:
        figure.suptitle(title, fontsize=11)
    return figure


def _is_nearly_constant(tables, column):
    values = np.concatenate([np.asarray(table[column]) for table in tables.values()])
    return bool(values.size) and np.ptp(values) < 1e-4 * np.max(np.abs(values))


def _positive(tables, column):
    return any((np.asarray(table[column]) > 0).any() for table in tables.values())
