"""Values of refined levels as plain arrays: covering grids, planes, lines, points, sums.

A cell that a finer patch covers never counts: the finest value is taken everywhere.
"""
import re
from dataclasses import dataclass, field

import numpy as np

from tessera.derived import formula_of
from tessera.errors import UsageError

AXES = "xyz"


@dataclass
class Grid:
    """An array over a box at one cell size; `values` is indexed [x, y, z], NaN where no patch is."""

    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    level: int
    name: str

    def centres(self, axis):
        """Coordinates of the cell centres along an axis (0, 1, 2)."""
        n = self.values.shape[axis]
        return self.lower[axis] + (self.upper[axis] - self.lower[axis]) / n * (np.arange(n) + 0.5)


@dataclass
class Plane:
    """A slice: `values` is indexed [first axis, second axis]; `axes` names both, `at` is the place on `axis`."""

    values: np.ndarray
    axis: str
    at: float
    axes: tuple
    extent: tuple  # lower and upper of the first axis, then of the second
    level: int
    name: str

    def centres(self, which):
        """Coordinates of the cell centres along the first (0) or second (1) axis of the plane."""
        lower, upper = self.extent[2 * which], self.extent[2 * which + 1]
        n = self.values.shape[which]
        return lower + (upper - lower) / n * (np.arange(n) + 0.5)


@dataclass
class Line:
    """The cells that a line crosses, in order: distance from its start, position, value, level, length inside."""

    s: np.ndarray
    points: np.ndarray
    values: np.ndarray
    levels: np.ndarray
    lengths: np.ndarray
    name: str
    fixed: dict = field(default_factory=dict)


def component(text):
    """'velocity:1' -> ('velocity', 1), 'velocity:mag' -> ('velocity', 'mag'), 'density' -> ('density', None)."""
    found = re.fullmatch(r"(.+):(\d+|mag|[xyz])", text)
    if not found or text.startswith("="):
        return text, None
    which = found.group(2)
    return found.group(1), which if which == "mag" else int(which) if which.isdigit() else AXES.index(which)


def axis_number(axis):
    if axis in (0, 1, 2):
        return axis
    if isinstance(axis, str) and len(axis) == 1 and axis in AXES:
        return AXES.index(axis)
    raise UsageError(f"'{axis}' is not an axis; use x, y or z")


def _block_sums(array, lo, ratio):
    """Sums over the coarser cells that the array's cells lie in; (sums, first coarser cell)."""
    first = []
    for axis in range(3):
        coarse = (lo[axis] + np.arange(array.shape[axis])) // ratio[axis]
        starts = np.flatnonzero(np.r_[True, coarse[1:] != coarse[:-1]])
        array = np.add.reduceat(array, starts, axis=axis)
        first.append(int(coarse[0]))
    return array, np.array(first)


def boxes_of(mask, origin):
    """Disjoint boxes (lo, hi) that cover the True cells, each as large as it gets along x, then y, then z.

        >>> import numpy as np
        >>> [(list(map(int, lo)), list(map(int, hi))) for lo, hi in boxes_of(np.ones((2, 3, 1), bool), np.array([4, 0, 0]))]
        [([4, 0, 0], [5, 2, 0])]
    """
    left, found = mask.copy(), []
    while left.any():
        i, j, k = np.argwhere(left)[0]
        x, y, z = i + 1, j + 1, k + 1
        while x < left.shape[0] and left[x, j, k]:
            x += 1
        while y < left.shape[1] and left[i:x, y, k].all():
            y += 1
        while z < left.shape[2] and left[i:x, j:y, z].all():
            z += 1
        left[i:x, j:y, k:z] = False
        found.append((origin + [i, j, k], origin + [x - 1, y - 1, z - 1]))
    return found


class Sampling:
    """What `FieldFile` can do with its values; the levels, patches and names are the file's."""

    def cell_values(self, patch, name):
        """One number a cell: of a field, one of its components (`NAME:0`, `NAME:x`) or their length (`NAME:mag`).

        Wherever a name is asked for, a function that gives the values of a patch will do, and so will what can be
        computed: `pressure`, `=gas.energy / gas.density` (derived.py).
        """
        if callable(name):
            return name(patch)
        plain, which = component(name) if name not in self.names else (name, None)
        if plain not in self.names:
            self.field(name)
            return formula_of(self, name).on(patch)
        values = patch.array(plain)
        if values.ndim == 3:
            if which not in (None, 0, "mag"):
                raise UsageError(f"{plain} has one component; leave out ':{which}'")
            return np.abs(values) if which == "mag" else values
        if which is None or which == "mag":
            return np.sqrt(np.sum(values.astype(float) ** 2, axis=3))
        if which >= values.shape[3]:
            raise UsageError(f"{plain} has {values.shape[3]} components, numbered from 0; there is no '{which}'")
        return values[..., which]

    def error(self, name, exact):
        """The field minus an exact solution at each cell's own centre, for use in the place of a name."""
        def values(patch):
            x, y, z = np.meshgrid(*[patch.centres(a) for a in range(3)], indexing="ij", sparse=True)
            return self.cell_values(patch, name) - exact(x, y, z, self.time)
        return values

    def ratio_between(self, coarse, fine):
        ratio = np.ones(3, dtype=np.int64)
        for level in range(coarse + 1, fine + 1):
            ratio = ratio * self.ratio(level)
        return ratio

    def leaves(self, name=None):
        """(patch, mask of the cells that count, values or None) of all patches, coarse levels first."""
        for level in self.levels:
            for patch in level.patches:
                if patch.leaves.any():
                    yield patch, patch.leaves, self.cell_values(patch, name) if name is not None else None

    def covering_grid(self, name, level=None, lower=None, upper=None):
        """The field in one array at the cell size of `level` (default: the finest).

        Values of coarser cells are repeated, those of finer ones averaged, so sums over volume are kept. `lower` and
        `upper` cut out a box in space; it is made larger to whole cells.
        """
        level = self._level_number(level)
        lo, hi = self._cells_of(level, lower, upper)
        return self._grid(name, level, lo, hi)

    def _grid(self, name, level, lo, hi):
        sums = np.zeros(tuple(hi - lo + 1))
        weight = np.zeros(sums.shape)
        for patch, mask, values in self._leaves_in(name, level, lo, hi):
            number = patch.level.number
            if number <= level:
                self._repeat(patch, mask, values, self.ratio_between(number, level), lo, hi, sums, weight)
            else:
                self._average(patch, mask, values, self.ratio_between(level, number), lo, hi, sums, weight)
        with np.errstate(invalid="ignore", divide="ignore"):
            result = np.where(weight > 0, np.where(weight == 1.0, sums, sums / weight), np.nan)
        spacing = self.levels[level].spacing
        return Grid(result, self.origin + spacing * lo, self.origin + spacing * (hi + 1), level, name)

    def _leaves_in(self, name, level, lo, hi):
        """As `leaves`, only patches that touch the cells lo..hi of a level, read only then."""
        for lv in self.levels:
            up, down = self.ratio_between(lv.number, level), self.ratio_between(level, lv.number)
            for patch in lv.patches:
                first = patch.lo * up // down
                last = ((patch.hi + 1) * up - 1) // down
                if (first <= hi).all() and (last >= lo).all() and patch.leaves.any():
                    yield patch, patch.leaves, self.cell_values(patch, name)

    @staticmethod
    def _repeat(patch, mask, values, ratio, lo, hi, sums, weight):
        begin = np.maximum(patch.lo * ratio, lo)
        end = np.minimum((patch.hi + 1) * ratio - 1, hi)
        pick = np.ix_(*[np.arange(begin[a], end[a] + 1) // ratio[a] - patch.lo[a] for a in range(3)])
        where = tuple(slice(begin[a] - lo[a], end[a] - lo[a] + 1) for a in range(3))
        counts = mask[pick]
        sums[where][counts] = values[pick][counts]
        weight[where][counts] = 1.0

    @staticmethod
    def _average(patch, mask, values, ratio, lo, hi, sums, weight):
        share = 1.0 / np.prod(ratio)
        part, first = _block_sums(np.where(mask, values, 0.0) * share, patch.lo, ratio)
        filled, _ = _block_sums(mask * share, patch.lo, ratio)
        begin, end = np.maximum(first, lo), np.minimum(first + part.shape - 1, hi)
        to = tuple(slice(begin[a] - lo[a], end[a] - lo[a] + 1) for a in range(3))
        of = tuple(slice(begin[a] - first[a], end[a] - first[a] + 1) for a in range(3))
        sums[to] += part[of]
        weight[to] += filled[of]

    def slice(self, name, axis="z", at=None, level=None):
        """The plane through `at` (default: the middle) normal to an axis, at the cell size of `level`."""
        number, level = axis_number(axis), self._level_number(level)
        lower, upper = self.bounds
        at = 0.5 * (lower[number] + upper[number]) if at is None else float(at)
        if not lower[number] <= at <= upper[number]:
            raise UsageError(f"the plane {AXES[number]} = {at:g} is outside of the domain, "
                             f"{lower[number]:g} to {upper[number]:g}")
        lo, hi = (np.array(v) for v in self.domain(level))
        lo[number] = hi[number] = self._cell_at(level, number, at)
        grid = self._grid(name, level, lo, hi)
        others = [a for a in range(3) if a != number]
        extent = tuple(v for a in others for v in (grid.lower[a], grid.upper[a]))
        return Plane(np.take(grid.values, 0, axis=number), AXES[number], at, tuple(AXES[a] for a in others), extent,
                     level, name)

    def points(self, name, places):
        """Values of the cells that the points lie in; NaN outside of all patches."""
        places = np.atleast_2d(np.asarray(places, dtype=float))
        found = np.full(len(places), np.nan)
        for level in reversed(self.levels):
            cell = np.stack([self._cell_at(level.number, a, places[:, a]) for a in range(3)], axis=1)
            inside_domain = ((places >= self.bounds[0]) & (places <= self.bounds[1])).all(axis=1)
            for patch in level.patches:
                mine = inside_domain & np.isnan(found) & ((cell >= patch.lo) & (cell <= patch.hi)).all(axis=1)
                if mine.any():
                    at = (cell[mine] - patch.lo).T
                    found[mine] = self.cell_values(patch, name)[at[0], at[1], at[2]]
        return found

    def line(self, name, start, end):
        """All cells between two points, in order, each once, at its own level."""
        start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        length = float(np.linalg.norm(end - start))
        if length == 0.0:
            raise UsageError("a line needs two points that differ; for one point use points()")
        pieces = []
        for level in self.levels:
            for patch in level.patches:
                pieces += self._crossed(patch, name, start, end)
        pieces.sort(key=lambda piece: piece[0])
        if not pieces:
            raise UsageError(f"the line from {start} to {end} meets no patch; the domain is "
                             f"{self.bounds[0]} to {self.bounds[1]}")
        table = np.array(pieces)
        middle = table[:, 0]
        fixed = {AXES[a]: float(start[a]) for a in range(3) if start[a] == end[a]}
        return Line(middle * length, start + np.outer(middle, end - start), table[:, 1], table[:, 2].astype(int),
                    table[:, 3] * length, name, fixed)

    def _crossed(self, patch, name, start, end):
        way, spacing = end - start, patch.level.spacing
        lower, upper = patch.bounds
        begin, stop = 0.0, 1.0
        for a in range(3):
            if way[a] == 0.0:
                cell = self._cell_at(patch.level.number, a, start[a])
                if not (patch.lo[a] <= cell <= patch.hi[a] and self.bounds[0][a] <= start[a] <= self.bounds[1][a]):
                    return []
            else:
                t = sorted(((lower[a] - start[a]) / way[a], (upper[a] - start[a]) / way[a]))
                begin, stop = max(begin, t[0]), min(stop, t[1])
        if begin >= stop:
            return []
        cuts = [np.array([begin, stop])]
        for a in range(3):
            if way[a] != 0.0:
                planes = self.origin[a] + spacing[a] * np.arange(patch.lo[a], patch.hi[a] + 2)
                t = (planes - start[a]) / way[a]
                cuts.append(t[(t > begin) & (t < stop)])
        t = np.unique(np.concatenate(cuts))
        t = t[np.r_[True, np.diff(t) > 1e-12]]
        middle = 0.5 * (t[1:] + t[:-1])
        cell = np.stack([np.clip(self._cell_at(patch.level.number, a, start[a] + middle * way[a]), patch.lo[a],
                                 patch.hi[a]) - patch.lo[a] for a in range(3)])
        keep = patch.leaves[cell[0], cell[1], cell[2]]
        if not keep.any():
            return []
        values = self.cell_values(patch, name)[cell[0], cell[1], cell[2]]
        rows = np.stack([middle, values, np.full(len(middle), patch.level.number), np.diff(t)], axis=1)
        return rows[keep].tolist()

    def box(self, name, lower, upper, level=None):
        """The covering grid of a part of the domain."""
        return self.covering_grid(name, level, lower, upper)

    def integral(self, name):
        """The integral over the domain, of cells that no finer patch covers."""
        return sum(float(np.sum(values[mask], dtype=np.longdouble) * np.prod(patch.level.spacing))
                   for patch, mask, values in self.leaves(name))

    def extremes(self, name):
        """(smallest, largest) value of the cells that count."""
        pairs = [(values[mask].min(), values[mask].max()) for _, mask, values in self.leaves(name)]
        return float(min(p[0] for p in pairs)), float(max(p[1] for p in pairs))

    def norms(self, name):
        """{'l1', 'l2', 'max'}: mean of |v|, root of the mean of v^2 and largest |v|, weighted by volume."""
        volume = total = square = largest = 0.0
        for patch, mask, values in self.leaves(name):
            cell, chosen = float(np.prod(patch.level.spacing)), np.abs(values[mask].astype(float))
            volume += cell * chosen.size
            total += cell * float(chosen.sum())
            square += cell * float((chosen * chosen).sum())
            largest = max(largest, float(chosen.max()))
        return {"l1": total / volume, "l2": float(np.sqrt(square / volume)), "max": largest}

    def leaf_cells(self):
        """How many cells count: those that no finer patch covers."""
        return sum(int(mask.sum()) for _, mask, _ in self.leaves())

    def _level_number(self, level):
        if level is None:
            return len(self.levels) - 1
        if not 0 <= int(level) < len(self.levels):
            raise UsageError(f"there is no level {level}; {self.path} has levels 0 to {len(self.levels) - 1}")
        return int(level)

    def _cell_at(self, level, axis, place):
        lo, hi = self.domain(level)
        cell = np.floor((np.asarray(place) - self.origin[axis]) / self.levels[level].spacing[axis] + 1e-9)
        return np.clip(cell.astype(np.int64), lo[axis], hi[axis])

    def _cells_of(self, level, lower, upper):
        lo, hi = self.domain(level)
        spacing = self.levels[level].spacing
        if lower is not None:
            lo = np.maximum(lo, np.floor((np.asarray(lower, float) - self.origin) / spacing + 1e-9).astype(np.int64))
        if upper is not None:
            hi = np.minimum(hi, np.ceil((np.asarray(upper, float) - self.origin) / spacing - 1e-9).astype(np.int64) - 1)
        if (lo > hi).any():
            raise UsageError(f"the box from {lower} to {upper} holds no cell; the domain is "
                             f"{self.bounds[0]} to {self.bounds[1]}")
        return lo, hi
