"""How much two states differ, field by field, on any two layouts of patches and levels over one mesh."""
from dataclasses import dataclass

import numpy as np

from tessera.errors import UsageError


@dataclass
class FieldDifference:
    """The norms of second minus first over the common refinement, weighted by volume."""

    name: str
    norms: dict         # l1, l2, max
    relative: float     # the largest difference as a part of the largest value of both
    cells: int          # cells of the common refinement
    place: tuple        # where the largest difference is
    first: object
    second: object

    def plane(self, axis="z", at=None):
        """Second minus first on a slice."""
        from tessera.plots.planes import picture_level
        from tessera.sampling import axis_number

        level = min(picture_level(file, axis_number(axis)) for file in (self.first, self.second))
        planes = [file.slice(self.name, axis, at, level) for file in (self.first, self.second)]
        planes[1].values = planes[1].values - planes[0].values
        return planes[1]

    def figure(self, axis="z", at=None):
        """The slice as a picture."""
        from tessera.plots.planes import draw_plane, field_label
        from tessera.plots.style import ColourRange, pyplot

        plt = pyplot()
        plane = self.plane(axis, at)
        figure, axes = plt.subplots(figsize=(5.8, 4.8))
        image = draw_plane(axes, self.second, plane, ColourRange([plane.values]), levels=len(self.second.levels) > 1)
        figure.colorbar(image, ax=axes, label=f"difference of {field_label(self.first, self.name)}", shrink=0.85)
        axes.set_title(f"second minus first, {plane.axis} = {plane.at:.6g}", fontsize=10)
        return figure


def require_one_mesh(first, second):
    """UsageError where cells of the two files cannot lie inside one another."""
    same = np.allclose(first.origin, second.origin, rtol=0, atol=1e-12 * np.max(np.abs(first.levels[0].spacing)))
    spacing = np.allclose(first.levels[0].spacing, second.levels[0].spacing, rtol=1e-12)
    domain = all((a == b).all() for a, b in zip(first.domain(0), second.domain(0)))
    ratios = all((first.ratio(n) == second.ratio(n)).all() for n in range(min(len(first.levels), len(second.levels))))
    if not (same and spacing and domain and ratios):
        raise UsageError(f"{first.path} and {second.path} have different meshes (domain, cells of level 0 or ratios), so their"
                         " cells cannot be compared one by one\n  fix  compare runs of one mesh; patches, ranks and refined"
                         " regions may differ. For runs of several resolutions: tessera convergence")


def compare_fields(first, second, name):
    """`FieldDifference` of one field. Where one is finer than the other, its cells count."""
    require_one_mesh(first, second)
    volume = total = square = largest = biggest = 0.0
    cells, place = 0, None
    deepest = first if len(first.levels) >= len(second.levels) else second
    for patch, mask, _ in first.leaves():
        level = max([patch.level.number, *_levels_over(second, patch, first)])
        ratio = deepest.ratio_between(patch.level.number, level)
        lo, hi = patch.lo * ratio, (patch.hi + 1) * ratio - 1
        values = _repeated(first.cell_values(patch, name), ratio)
        has_level = level < len(second.levels)
        other = second._grid(name, level, lo, hi).values if has_level else _coarser(second, name, level, lo, hi, deepest)
        counts = _repeated(mask, ratio) & np.isfinite(other)
        apart = np.abs(np.where(counts, other - values, 0.0))
        cell = float(np.prod(deepest.levels[level].spacing))
        cells += int(counts.sum())
        volume += cell * float(counts.sum())
        total += cell * float(apart.sum())
        square += cell * float((apart * apart).sum())
        biggest = max(biggest, float(np.abs(values[counts]).max(initial=0)), float(np.abs(other[counts]).max(initial=0)))
        if place is None or apart.max() > largest:
            largest = float(apart.max())
            at = np.array(np.unravel_index(int(apart.argmax()), apart.shape)) + lo
            place = tuple(float(v) for v in first.origin + deepest.levels[level].spacing * (at + 0.5))
    norms = {"l1": total / volume, "l2": float(np.sqrt(square / volume)), "max": largest}
    return FieldDifference(name, norms, largest / biggest if biggest else 0.0, cells, place, first, second)


def _levels_over(file, patch, of):
    """Levels of `file` that have leaves over a patch of another file."""
    found = []
    for level in file.levels:
        number = level.number
        deep = file if number >= patch.level.number else of
        up = deep.ratio_between(min(number, patch.level.number), max(number, patch.level.number))
        lo, hi = (patch.lo * up, (patch.hi + 1) * up - 1) if number >= patch.level.number else (patch.lo // up, patch.hi // up)
        for other in level.patches:
            begin, end = np.maximum(other.lo, lo), np.minimum(other.hi, hi)
            if (begin > end).any() or not other.leaves.any():
                continue
            # Where the patch's own finer levels cover it, theirs are compared.
            inside = tuple(slice(b, e) for b, e in zip(begin // up - patch.lo, end // up - patch.lo + 1))
            if number <= patch.level.number or patch.leaves[inside].any():
                found.append(number)
                break
    return found


def _coarser(file, name, level, lo, hi, deepest):
    """Values of a file that does not have a level, on the cells that the level would have."""
    top = len(file.levels) - 1
    ratio = deepest.ratio_between(top, level)
    grid = file._grid(name, top, lo // ratio, hi // ratio)
    pick = np.ix_(*[(np.arange(lo[a], hi[a] + 1) // ratio[a]) - lo[a] // ratio[a] for a in range(3)])
    return grid.values[pick]


def _repeated(array, ratio):
    for axis in range(3):
        if ratio[axis] != 1:
            array = np.repeat(array, ratio[axis], axis=axis)
    return array
