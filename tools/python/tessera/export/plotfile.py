"""AMReX plotfiles, which VisIt, yt, amrvis and ParaView read.

The grammar is that of AMReX_PlotFileUtil and of VisMF headers: a text `Header`, and for each level a folder with
`Cell_H` (boxes, places, extremes) and `Cell_D_00000` (a line of text, then the numbers of one box, for each box).
"""
import os
import shutil
from pathlib import Path

import numpy as np

from tessera.aligned_level import AlignedLevel
from tessera.errors import OutputError, UsageError

# How AMReX describes little-endian doubles in front of each box.
REAL = "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))"
RATIO_FAULT = "the levels of {} are refined by {} along x, y and z, and a plotfile knows one ratio a level"


def component_names(file, names):
    """One name for each number of a cell: 'velocity:x' becomes 'velocity_x', as AMReX writes vectors."""
    found = []
    for name in names:
        field = file.field(name)
        if field.components == 1:
            found.append((name, name))
        else:
            found += [(f"{name}:{n}", f"{name}_{'xyz'[n] if field.components <= 3 else n}") for n in range(field.components)]
    return found


def write_plotfile(file, path, names=None):
    """Writes all levels; gives the path, a new folder. Coarse cells under finer patches are kept, as AMReX does."""
    path = Path(path)
    if path.exists():
        raise OutputError(f"{path} is there already\n  fix  choose another name with -o, or remove it")
    components = component_names(file, names or file.names)
    if not components:
        raise UsageError(f"{file.path} has no fields to export")
    ratios = [_one_ratio(file, n) for n in range(1, len(file.levels))]
    unfinished = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        unfinished.mkdir(parents=True)
        for level in file.levels:
            _write_level(file, level, components, unfinished / f"Level_{level.number}")
        (unfinished / "Header").write_text(header(file, [shown for _, shown in components], ratios), encoding="ascii")
        os.replace(unfinished, path)
    except OSError as problem:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise OutputError(f"{path} cannot be written: {problem.strerror}") from problem
    return path


def _one_ratio(file, level):
    ratio = file.ratio(level)
    lo, hi = file.domain(0)
    kinds = {int(r) for r, flat in zip(ratio, lo == hi) if not (flat and r == 1)}
    if len(kinds) > 1:
        raise UsageError(RATIO_FAULT.format(file.path, list(ratio)))
    if any(flat and r == 1 for r, flat in zip(ratio, lo == hi)):
        return None  # a plane run: its one cell along z stays one cell
    return kinds.pop()


def _scale(file, level):
    """What a level's indices along flat axes have to be multiplied by, so that all axes have the same ratio."""
    scale = np.ones(3, dtype=np.int64)
    for number in range(1, level + 1):
        ratio = file.ratio(number)
        scale *= np.where(ratio == 1, max(ratio), 1)
    return scale


def box_text(lo, hi):
    return f"(({','.join(map(str, lo))}) ({','.join(map(str, hi))}) (0,0,0))"


def header(file, names, ratios):
    """The text of `Header`."""
    lower, upper = file.bounds
    factors = [ratio or int(max(file.ratio(n + 1))) for n, ratio in enumerate(ratios)]
    domains = []
    for level in file.levels:
        lo, hi = file.domain(level.number)
        scale = _scale(file, level.number)
        domains.append(box_text(lo * scale, (hi + 1) * scale - 1))
    lines = ["HyperCLaw-V1.1", str(len(names)), *names, "3", repr(file.time), str(len(file.levels) - 1),
             _reals(lower), _reals(upper), " ".join(map(str, factors)), " ".join(domains),
             " ".join([str(file.step)] * len(file.levels))]
    for level in file.levels:
        lines.append(_reals(level.spacing / _scale(file, level.number)))
    lines += ["0", "0"]
    for level in file.levels:
        boxes = AlignedLevel(file, level)
        lines += [f"{level.number} {len(boxes.boxes)} {file.time!r}", str(file.step)]
        for lo, hi in boxes.boxes:
            low, high = boxes.bounds(lo, hi)
            lines += [f"{float(low[a])!r} {float(high[a])!r}" for a in range(3)]
        lines.append(f"Level_{level.number}/Cell")
    return "\n".join(lines) + "\n"


def _reals(values):
    return " ".join(repr(float(v)) for v in values)


def _write_level(file, level, components, folder):
    folder.mkdir()
    scale = _scale(file, level.number)
    places, lowest, highest, texts, boxes = [], [], [], [], AlignedLevel(file, level)
    with open(folder / "Cell_D_00000", "wb") as data:
        for lo, hi in boxes.boxes:
            texts.append(box_text(lo * scale, (hi + 1) * scale - 1))
            places.append(data.tell())
            data.write(f"FAB {REAL}{texts[-1]} {len(components)}\n".encode("ascii"))
            extremes = []
            for name, _ in components:
                values = np.asarray(boxes.values(name, lo, hi), dtype="<f8")
                for axis in range(3):
                    values = np.repeat(values, scale[axis], axis=axis)
                data.write(np.ascontiguousarray(values.transpose(2, 1, 0)).tobytes())
                extremes.append((float(values.min()), float(values.max())))
            lowest.append([low for low, _ in extremes])
            highest.append([high for _, high in extremes])
    lines = ["1", "1", str(len(components)), "0", f"({len(texts)} 0", *texts, ")", str(len(texts)),
             *[f"FabOnDisk: Cell_D_00000 {place}" for place in places], "",
             f"{len(texts)},{len(components)}", *[_row(row) for row in lowest], "",
             f"{len(texts)},{len(components)}", *[_row(row) for row in highest], ""]
    (folder / "Cell_H").write_text("\n".join(lines), encoding="ascii")


def _row(values):
    return "".join(f"{value!r}," for value in values)
