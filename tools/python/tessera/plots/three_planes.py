"""A three-dimensional field by three planes in space, without a volume renderer."""
import numpy as np

from tessera.plots.planes import field_label, usual_colours
from tessera.plots.style import ColourRange, axis_label, pyplot, time_text

MOST_QUADS = 72  # along an axis; every quad is a polygon of its own, sorted by depth


def three_planes_figure(file, name, at=None, log=False, limits=None, colours=None, title=""):
    """The planes x, y, z = `at` (three numbers, default: the middle) in one picture."""
    plt = pyplot()
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    lower, upper = file.bounds
    at = 0.5 * (lower + upper) if at is None else np.asarray(at, dtype=float)
    level = max([l.number for l in file.levels if max(np.diff(file.domain(l.number), axis=0)[0]) < 2 * MOST_QUADS],
                default=0)
    planes = [file.slice(name, axis, at[n], level) for n, axis in enumerate("xyz")]
    colour_range = ColourRange([plane.values for plane in planes], log, limits, colours or usual_colours(name))
    quads, colours_of = [], []
    norm, colour_map = colour_range.norm(), colour_range.colour_map()
    for plane in planes:
        corners, values = _quads(plane, at, lower, upper)
        quads.append(corners)
        colours_of.append(colour_map(norm(np.ma.masked_invalid(values))))
    figure = plt.figure(figsize=(7.2, 6.0))
    axes = figure.add_subplot(projection="3d", computed_zorder=False)
    faces = np.concatenate(colours_of)
    axes.add_collection3d(Poly3DCollection(np.concatenate(quads), facecolors=faces, edgecolors=faces, linewidths=0.2))
    _frame(axes, file)
    axes.set_box_aspect(np.clip((upper - lower) / max(upper - lower), 0.25, 1.0), zoom=0.85)
    figure.colorbar(plt.cm.ScalarMappable(norm, colour_map), ax=axes, label=field_label(file, name), shrink=0.7, pad=0.1)
    axes.set_title(", ".join(part for part in (title, time_text(file)) if part), fontsize=10)
    return figure


def _frame(axes, file):
    lower, upper = file.bounds
    for n, (setter, label) in enumerate(((axes.set_xlim, axes.set_xlabel), (axes.set_ylim, axes.set_ylabel),
                                         (axes.set_zlim, axes.set_zlabel))):
        setter(lower[n], upper[n])
        label(axis_label(file, "xyz"[n]))
    axes.view_init(elev=24, azim=-56)


def _quads(plane, at, lower, upper):
    """Corners (n, 4, 3) and values (n) of the plane's cells, thinned out; cut where the other planes cross it, so that
    sorting by depth is right."""
    number, others = "xyz".index(plane.axis), ["xyz".index(a) for a in plane.axes]
    steps = [max(1, -(-n // MOST_QUADS)) for n in plane.values.shape]
    edges = []
    for which in (0, 1):
        n = plane.values.shape[which]
        cuts = np.linspace(plane.extent[2 * which], plane.extent[2 * which + 1], n + 1)[::steps[which]]
        edges.append(np.unique(np.r_[cuts, at[others[which]], plane.extent[2 * which + 1]]))
    centres = [0.5 * (e[1:] + e[:-1]) for e in edges]
    pick = [np.clip(((c - plane.extent[2 * w]) / (plane.extent[2 * w + 1] - plane.extent[2 * w])
                     * plane.values.shape[w]).astype(int), 0, plane.values.shape[w] - 1) for w, c in enumerate(centres)]
    values = plane.values[np.ix_(*pick)]
    corners = np.empty((*values.shape, 4, 3))
    corners[..., number] = at[number]
    for place, (i, j) in enumerate(((0, 0), (1, 0), (1, 1), (0, 1))):
        first, second = np.meshgrid(edges[0][i:len(edges[0]) - 1 + i], edges[1][j:len(edges[1]) - 1 + j], indexing="ij")
        corners[..., place, others[0]], corners[..., place, others[1]] = first, second
    return corners.reshape(-1, 4, 3), values.ravel()
