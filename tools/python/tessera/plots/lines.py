"""Values along a line, with the exact solution where the deck gives one."""
import numpy as np

from tessera.plots.planes import field_label, thin_axes
from tessera.field_file import with_unit
from tessera.plots.style import LINES, printed, pyplot, time_text


def default_line(file, axis=None):
    """Two points: the middle of the domain along an axis, by default its first axis of more than one cell."""
    lower, upper = file.bounds
    middle = file.middle
    thick = [a for a in "xyz" if a not in thin_axes(file)] or ["x"]
    number = "xyz".index(axis or thick[0])
    start, end = middle.copy(), middle.copy()
    start[number], end[number] = lower[number], upper[number]
    return start, end


def coordinate(line):
    """(values, name) of the abscissa: the coordinate that varies where there is one alone, else the distance."""
    varies = [a for a in "xyz" if a not in line.fixed]
    if len(varies) == 1:
        return line.points[:, "xyz".index(varies[0])], varies[0]
    return line.s, "distance along the line"


def centred(file, line):
    """The places whose values the cells have: cell centres, also across the line (a line may run along faces)."""
    places = line.points.copy()
    for name, value in line.fixed.items():
        a = "xyz".index(name)
        for level in np.unique(line.levels):
            h = file.levels[level].spacing[a]
            cell = file._cell_at(level, a, value)
            places[line.levels == level, a] = file.origin[a] + h * (cell + 0.5)
    return places


def line_figure(files, name, start=None, end=None, exact=None, log=False, limits=None, title=""):
    """One curve for each of the files; the exact solution of each as a thin black line."""
    plt = pyplot()
    if start is None:
        start, end = default_line(files[0])
    figure, axes = plt.subplots(figsize=(7.2, 4.4))
    several_levels, meshes = False, []
    for number, file in enumerate(files):
        line = file.line(name, start, end)
        at, label = coordinate(line)
        colour = LINES[number % len(LINES)] if len(files) <= len(LINES) else plt.get_cmap("viridis")(number / len(files))
        few = len(at) <= 160
        axes.plot(at, line.values, "o-" if few and exact is not None else "-", color=colour, markersize=2.5,
                  linewidth=1.0, label=time_text(file))
        if exact is not None:
            places = centred(file, line)
            axes.plot(at, exact(places[:, 0], places[:, 1], places[:, 2], file.time), "k--", linewidth=0.9,
                      label="exact" if number == len(files) - 1 else None, zorder=3)
        several_levels = several_levels or len(np.unique(line.levels)) > 1
        meshes.append(line.levels.tolist())
    if several_levels:
        followed = any(mesh != meshes[0] for mesh in meshes)
        _shade_levels(axes, at, line, f"finer levels at t = {files[-1].time:.6g}" if followed else None)
    axes.set_xlabel(printed(with_unit(label, files[0].length_unit)))
    axes.set_ylabel(field_label(files[0], name))
    axes.set_yscale("log" if log else "linear")
    if limits:
        axes.set_ylim(*limits)
    axes.grid(True)
    axes.legend(fontsize=8, ncol=2 if len(files) > 8 else 1)
    fixed = ", ".join(f"{axis} = {value:.6g}" for axis, value in line.fixed.items() if axis not in thin_axes(files[0]))
    axes.set_title(", ".join(part for part in (title, fixed) if part), fontsize=10)
    return figure


def _shade_levels(axes, at, line, label):
    """Grey bands where the line runs through refined levels; `label`: of which time they are, where that matters."""
    half = 0.5 * line.lengths * abs(at[-1] - at[0]) / max(line.s[-1] - line.s[0], 1e-300)
    deepest = max(line.levels)
    for level in range(1, deepest + 1):
        mine = line.levels >= level
        edges = np.flatnonzero(np.diff(np.r_[0, mine.astype(int), 0]))
        for first, last in zip(edges[0::2], edges[1::2] - 1):
            axes.axvspan(at[first] - half[first], at[last] + half[last], color="black", alpha=0.06, linewidth=0, label=label)
            label = None
