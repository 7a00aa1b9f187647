"""A level in boxes of whole coarser cells, as AMReX and yt want them; patches of Tessera may end within a coarser cell."""
import numpy as np

from tessera.sampling import boxes_of


class AlignedLevel:
    """`boxes`: (lo, hi) in the level's cells, both included. The patches, where each of them begins and ends with a coarser
    cell; where one does not, the level cut anew along its coarser patches."""

    def __init__(self, file, level):
        self.file, self.level = file, level
        ratio = file.ratio(level.number)
        if all((patch.lo % ratio == 0).all() and ((patch.hi + 1) % ratio == 0).all() for patch in level.patches):
            self.boxes = [(patch.lo, patch.hi) for patch in level.patches]
        else:
            self.boxes = [(lo * ratio, (hi + 1) * ratio - 1) for patch in file.levels[level.number - 1].patches
                          for lo, hi in boxes_of(~patch.leaves, patch.lo)]

    def bounds(self, lo, hi):
        """(lower, upper) corner in space."""
        return self.file.origin + self.level.spacing * lo, self.file.origin + self.level.spacing * (hi + 1)

    def values(self, name, lo, hi):
        """The level's own values in a box, those under finer patches included."""
        values = np.full(tuple(hi - lo + 1), np.nan)
        for patch in self.level.patches:
            begin, end = np.maximum(lo, patch.lo), np.minimum(hi, patch.hi) + 1
            if (begin < end).all():
                to, of = (tuple(slice(begin[a] - at[a], end[a] - at[a]) for a in range(3)) for at in (lo, patch.lo))
                values[to] = self.file.cell_values(patch, name)[of]
        return values
