"""Slices: a plane through the fields, with outlines of patches and levels."""
import numpy as np

from tessera.derived import SOLID
from tessera.plots.style import LEVELS, ColourRange, axis_label, printed, pyplot, time_text
from tessera.sampling import AXES, axis_number, component

MOST_CELLS = 2048  # along an axis of a picture; more could not be seen


def picture_level(file, number):
    """The finest level whose plane is not finer than a picture."""
    for level in range(len(file.levels) - 1, 0, -1):
        lo, hi = file.domain(level)
        if max((hi - lo + 1)[[a for a in range(3) if a != number]]) <= MOST_CELLS:
            return level
    return 0


def plane_of(file, name, axis, at, exact=None):
    """The slice; with `exact` (an Expression) the difference to it."""
    level = picture_level(file, axis_number(axis))
    plane = file.slice(name if exact is None else file.error(name, exact), axis, at, level)
    if SOLID in file.names and name != SOLID:
        plane.values[file.slice(SOLID, axis, at, level).values > 0] = np.nan  # solid cells hold no gas
    return plane


def patches_on(file, level, axis, at):
    """(x0, y0, x1, y1) in space of each patch of a level that the plane cuts."""
    number = axis_number(axis)
    cell = file._cell_at(level.number, number, at)
    others = [a for a in range(3) if a != number]
    for patch in level.patches:
        if patch.lo[number] <= cell <= patch.hi[number]:
            lower, upper = patch.bounds
            yield lower[others[0]], lower[others[1]], upper[others[0]], upper[others[1]]


def draw_patches(axes, file, axis, at):
    """Thin outlines of all patches, in the colour of their level."""
    from matplotlib.patches import Rectangle

    for level in file.levels:
        for x0, y0, x1, y1 in patches_on(file, level, axis, at):
            axes.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, fill=False, linewidth=0.5, alpha=0.8,
                                     edgecolor=LEVELS[min(level.number, len(LEVELS) - 1)]))


def region_edges(boxes):
    """The edges that a union of boxes has towards the outside, as segments ((x0, y0), (x1, y1)).

        >>> len(region_edges([(0, 0, 1, 1), (1, 0, 2, 1)]))  # two boxes side by side: no edge between them
        4
    """
    xs, ys = np.unique([b[n] for b in boxes for n in (0, 2)]), np.unique([b[n] for b in boxes for n in (1, 3)])
    inside = np.zeros((len(xs) + 1, len(ys) + 1), dtype=bool)  # with a border of nothing
    for x0, y0, x1, y1 in boxes:
        i, j = np.searchsorted(xs, (x0, x1)), np.searchsorted(ys, (y0, y1))
        inside[i[0] + 1:i[1] + 1, j[0] + 1:j[1] + 1] = True
    segments = []
    for i, x in enumerate(xs):
        segments += [((x, ys[a]), (x, ys[b])) for a, b in _runs(inside[i, 1:-1] != inside[i + 1, 1:-1])]
    for j, y in enumerate(ys):
        segments += [((xs[a], y), (xs[b], y)) for a, b in _runs(inside[1:-1, j] != inside[1:-1, j + 1])]
    return segments


def _runs(mask):
    edges = np.flatnonzero(np.diff(np.r_[0, mask.astype(np.int8), 0]))
    return list(zip(edges[0::2], edges[1::2]))


def draw_levels(axes, file, axis, at):
    """Outlines of the regions of the refined levels."""
    from matplotlib.collections import LineCollection

    for level in file.levels[1:]:
        boxes = list(patches_on(file, level, axis, at))
        if boxes:
            colour = LEVELS[min(level.number, len(LEVELS) - 1)]
            axes.add_collection(LineCollection(region_edges(boxes), colors="black", linewidths=2.4, capstyle="round"))
            axes.add_collection(LineCollection(region_edges(boxes), colors=colour, linewidths=1.4, capstyle="round",
                                               label=f"level {level.number}"))
    if len(file.levels) > 1 and axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper right", fontsize=8, framealpha=0.8, facecolor="#333333", labelcolor="white")


def draw_plane(axes, file, plane, colour_range, patches=False, levels=False):
    """Draws one slice into matplotlib axes; gives the image, for a colour bar."""
    values = np.ma.masked_invalid(plane.values.T)
    image = axes.imshow(values, origin="lower", extent=plane.extent, cmap=colour_range.colour_map(),
                        norm=colour_range.norm(), interpolation="nearest", aspect=_aspect(plane.extent))
    axes.set_xlabel(axis_label(file, plane.axes[0]))
    axes.set_ylabel(axis_label(file, plane.axes[1]))
    if patches:
        draw_patches(axes, file, plane.axis, plane.at)
    if levels:
        draw_levels(axes, file, plane.axis, plane.at)
    return image


def _aspect(extent):
    width, height = extent[1] - extent[0], extent[3] - extent[2]
    return "equal" if 0.1 < width / height < 10 else "auto"


def field_label(file, name):
    """'velocity:x (m/s)'."""
    plain = component(name)[0]
    field = file.field(plain if plain in file.names else name)
    return name.lstrip("=") if field.unit in ("", "1", name) else f"{name.lstrip('=')} ({printed(field.unit)})"


def usual_colours(name):
    """Of pictures that look as in an experiment; None: by the values."""
    return "gray" if isinstance(name, str) and "schlieren" in name else None


def slice_figure(files, name, axis="z", at=None, log=False, patches=False, levels=False, limits=None, same_range=False,
                 colours=None, exact=None, title=""):
    """One panel for each of the files (times), with a colour bar each, or one for all with `same_range`."""
    plt = pyplot()
    colours = colours or usual_colours(name)
    limits = (0.0, 1.0) if limits is None and usual_colours(name) else limits
    planes = [plane_of(file, name, axis, at, exact) for file in files]
    shared = ColourRange([p.values for p in planes], log, limits, colours) if same_range or limits else None
    columns = min(len(files), 3)
    rows = -(-len(files) // columns)
    extent = planes[0].extent
    tall = np.clip((extent[3] - extent[2]) / (extent[1] - extent[0]), 0.4, 1.3)
    width = 5.6 if columns == 1 else 4.2
    bar = {"location": "bottom", "shrink": 0.6, "aspect": 40} if tall < 0.6 else {"shrink": 0.85}  # a label is longer than that
    figure, grid = plt.subplots(rows, columns, figsize=(width * columns, (0.78 * width * tall + 0.9) * rows), squeeze=False)
    for place, (file, plane) in enumerate(zip(files, planes)):
        axes = grid[place // columns][place % columns]
        image = draw_plane(axes, file, plane, shared or ColourRange([plane.values], log, None, colours), patches, levels)
        axes.label_outer()
        thin = file.domain(0)[1][axis_number(axis)] == file.domain(0)[0][axis_number(axis)]
        where = "" if thin else f", {plane.axis} = {plane.at:.6g}"
        axes.set_title(time_text(file) + where, fontsize=10)
        label = ("error of " if exact is not None else "") + field_label(file, name)
        if shared is None:
            figure.colorbar(image, ax=axes, label=label, **bar)
    if shared is not None:
        figure.colorbar(image, ax=grid.ravel().tolist(), label=label, **bar)
    for empty in range(len(files), rows * columns):
        grid[empty // columns][empty % columns].axis("off")
    if title:
        figure.suptitle(title, fontsize=11)
    return figure


def thin_axes(file):
    """Names of the axes along which the domain has one cell."""
    lo, hi = file.domain(0)
    return [AXES[a] for a in range(3) if lo[a] == hi[a]]
