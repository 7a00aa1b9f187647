"""Plain tables and arrays: CSV for spreadsheets, .npz for numpy."""
import csv
from pathlib import Path

import numpy as np

from tessera.errors import OutputError
from tessera.export.plotfile import component_names


def write_csv(file, path, names=None):
    """One line for each cell that counts: x, y, z of its centre, its level and volume, then the values."""
    components = component_names(file, names or file.names)
    path = Path(path)
    try:
        with open(path, "w", newline="", encoding="utf-8") as stream:
            lines = csv.writer(stream)
            lines.writerow(["x", "y", "z", "level", "volume", *[shown for _, shown in components]])
            for patch, mask, _ in file.leaves():
                x, y, z = np.meshgrid(*[patch.centres(a) for a in range(3)], indexing="ij")
                columns = [a[mask] for a in (x, y, z)] + [file.cell_values(patch, name)[mask] for name, _ in components]
                volume = repr(float(np.prod(patch.level.spacing)))
                for row in zip(*columns):
                    numbers = [repr(float(v)) for v in row]
                    lines.writerow([*numbers[:3], patch.level.number, volume, *numbers[3:]])
    except OSError as problem:
        raise OutputError(f"{path} cannot be written: {problem.strerror}") from problem
    return path


def write_npz(file, path, names=None, level=None):
    """Covering grids of `level` (default: the finest), indexed [x, y, z], with x, y, z and time."""
    grids = {shown: file.covering_grid(name, level) for name, shown in component_names(file, names or file.names)}
    first = next(iter(grids.values()))
    try:
        np.savez_compressed(path, **{name: grid.values for name, grid in grids.items()},
                            **{axis: first.centres(a) for a, axis in enumerate("xyz")}, time=file.time, step=file.step)
    except OSError as problem:
        raise OutputError(f"{path} cannot be written: {problem.strerror}") from problem
    return Path(path)
