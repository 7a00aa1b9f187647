"""Fields as a dataset of yt: `to_yt(run.fields[-1])`, through yt's interface for refined grids in memory.

yt's stream interface wants one refinement ratio for all levels and one parent for each grid. So boxes are cut where
those of the coarser level end, and a ratio of 4 beside one of 2 becomes two levels, the one between with the averages.
"""
import numpy as np

from tessera.aligned_level import AlignedLevel
from tessera.errors import MissingPackage, UsageError
from tessera.export.plotfile import component_names
from tessera.field_file import FieldFile
from tessera.run_folder import Run
from tessera.sampling import boxes_of


LENGTHS = ("m", "cm", "mm", "um", "km", "AU", "pc", "kpc", "Mpc")
TIMES = ("s", "ms", "us", "ns", "min", "hr", "day", "yr", "Myr")


def to_yt(source, names=None, length_unit=None, time_unit=None):
    """A yt dataset of a `FieldFile`, or of the last state of a `Run`. Units that are not given are those of the deck's
    [units], where yt knows them, else m and s.

        ds = tessera.to_yt(run)
        ds.all_data()["stream", "temperature"]
    """
    try:
        import yt
    except ImportError as missing:
        raise MissingPackage("yt", "to_yt()") from missing
    file = source.fields[-1] if isinstance(source, Run) else source
    if not isinstance(file, FieldFile):
        raise UsageError("to_yt() takes a run or a field file: tessera.to_yt(tessera.load('cosine'))")
    grids, arguments = stream_arguments(file, names)
    length_unit, time_unit = length_unit or usual_unit(file.length_unit, LENGTHS), time_unit or usual_unit(file.time_unit, TIMES)
    return yt.load_amr_grids(grids, length_unit=length_unit, time_unit=time_unit, **arguments)


def usual_unit(name, known):
    """
        >>> usual_unit("cm", LENGTHS), usual_unit("length", LENGTHS)
        ('cm', 'm')
    """
    return name if name in known else known[0]


def stream_arguments(file, names=None):
    """(grids, other arguments) for `yt.load_amr_grids`."""
    components = component_names(file, names or file.names)
    base = common_ratio(file)
    grids, parents, depth = [], None, 0
    for level in file.levels:
        steps = int(round(np.log(max(file.ratio(level.number))) / np.log(base))) if level.number else 0
        for between in range(1, steps):
            parents = _between(file, level.number, between, base, parents, components, grids, depth + between)
        depth += max(steps, 1) if level.number else 0
        spacing, here = level.spacing, []
        aligned = AlignedLevel(file, level)
        for first, last in aligned.boxes:
            arrays = {shown: aligned.values(name, first, last) for name, shown in components}
            for lo, hi in pieces(first, last, spacing, parents):
                part = tuple(slice(lo[a] - first[a], hi[a] - first[a] + 1) for a in range(3))
                grids.append(_grid(file, lo, hi, spacing, depth, {n: a[part] for n, a in arrays.items()}))
                here.append((lo, hi, spacing))
        parents = here
    flat = file.domain(0)[0] == file.domain(0)[1]
    ratios = [1 if f and all(file.ratio(n)[a] == 1 for n in range(len(file.levels))) else base for a, f in enumerate(flat)]
    (first, last), (lower, upper) = file.domain(0), file.bounds
    return grids, {"domain_dimensions": last - first + 1, "bbox": np.stack([lower, upper], axis=1), "sim_time": file.time,
                   "refine_by": base if len(set(ratios)) == 1 else np.array(ratios), "periodicity": file.periodic}


def common_ratio(file):
    """The number that the ratios of all levels are powers of; 2 where there is one level."""
    ratios = [int(max(file.ratio(n))) for n in range(1, len(file.levels))]
    for base in (2, 3, 5, 7):
        if all(ratio == base ** round(np.log(ratio) / np.log(base)) for ratio in ratios):
            return base
    raise UsageError(f"yt knows one refinement ratio, and those of {file.path} are {ratios}\n"
                     "  fix  export a plotfile, which yt reads too: tessera export --format plotfile")


def _grid(file, lo, hi, spacing, depth, arrays):
    return {"left_edge": file.origin + spacing * lo, "right_edge": file.origin + spacing * (hi + 1),
            "dimensions": hi - lo + 1, "level": depth,
            **{name: np.ascontiguousarray(array, dtype=float) for name, array in arrays.items()}}


def pieces(lo, hi, spacing, parents):
    """The parts of a box that lie in one parent each."""
    if parents is None:
        return [(lo, hi)]
    found = []
    for first, last, wide in parents:
        ratio = np.rint(wide / spacing).astype(np.int64)
        begin, end = np.maximum(lo, first * ratio), np.minimum(hi, (last + 1) * ratio - 1)
        if (begin <= end).all():
            found.append((begin, end))
    return found


def _between(file, fine, step, base, parents, components, grids, depth):
    """Adds the level between a coarse one and one of a higher power of the ratio: where the finer one is, its averages."""
    ratio = file.ratio(fine)
    up = np.minimum(ratio, base ** step)                      # from the coarse level of the file to this one
    down = ratio // up                                        # from this one to the fine level
    spacing = file.levels[fine].spacing * down
    here = []
    for patch in file.levels[fine - 1].patches:
        for lo, hi in boxes_of(~patch.leaves, patch.lo):
            for first, last in pieces(lo * up, (hi + 1) * up - 1, spacing, parents):
                arrays = {}
                for name, shown in components:
                    values = file._grid(name, fine, first * down, (last + 1) * down - 1).values
                    shape = [n for a in range(3) for n in (values.shape[a] // down[a], down[a])]
                    arrays[shown] = values.reshape(shape).mean(axis=(1, 3, 5))
                grids.append(_grid(file, first, last, spacing, depth, arrays))
                here.append((first, last, spacing))
    return here
