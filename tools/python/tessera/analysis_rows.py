"""analysis.hdf of a run: the numbers of [analysis] where the deck says format = "hdf5" (docs/user/analysis.md)."""
import ctypes
import os
from pathlib import Path

import numpy as np

from tessera.errors import InputError, UsageError, nearest
from tessera.files import damage_of, hdf5_package
from tessera.table import Table

# As in datawarehouse/archive/row_reader.cpp: HDF5 reads a damaged item again, after waits that double from a
# nanosecond; with twenty it gives up after a millisecond, with its usual hundred never.
READ_ATTEMPTS = 20


def open_rows(path):
    """The file as `h5py.File`, also while it is written."""
    h5py = hdf5_package("reading analysis.hdf")
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    access.set_file_locking(False, True)
    # h5py has no name for this function; the library that h5py has loaded does.
    set_attempts = ctypes.CDLL(h5py.h5p.__file__).H5Pset_metadata_read_attempts
    set_attempts.argtypes = [ctypes.c_int64, ctypes.c_uint]
    if set_attempts(access.id, READ_ATTEMPTS) < 0:
        raise RuntimeError("HDF5 does not limit how often it reads an item")
    flags = h5py.h5f.ACC_RDONLY | h5py.h5f.ACC_SWMR_READ
    return h5py.File(h5py.h5f.open(os.fsencode(path), flags, access))


class AnalysisRows:
    """Arrays by the names of the deck; rows are lines of the history, also of a run that goes on or was killed.

        rows = run.analysis
        rows["axis"]                 # (rows, points) of a line; (rows, quantities) of a region
        rows.time, rows.step, rows.kind("axis"), rows.places("axis")
        rows.columns("axis")         # the names that they have in run.history: 'axis.000' ...
    """

    def __init__(self, path):
        self.path = Path(path)
        if not self.path.is_file():
            raise InputError(f"there is no {self.path}\n  fix  give the deck [analysis] format = \"hdf5\"; without it the numbers are"
                             " columns of run.history")
        self._arrays, self._about = {}, {}
        with damage_of(self.path), open_rows(self.path) as file:
            sets = {name: file["numbers"][name] for name in file["numbers"]}
            # A row that is being written is in some of them only.
            rows = min(len(s) for s in (file["step"], file["time"], file["dt"], file["crc32c"], *sets.values()))
            self.step, self.time, self.dt = (file[name][:rows] for name in ("step", "time", "dt"))
            for name, stored in sets.items():
                self._arrays[name] = stored[:rows]
                about = {key: value for key, value in stored.attrs.items()}
                texts = {key: value.decode().rstrip("\0") if isinstance(value, bytes) else str(value).rstrip("\0")
                         for key, value in about.items() if key in ("columns", "kind", "field", "unit")}
                self._about[name] = {**about, **texts, "columns": texts["columns"].split("\n")}

    @property
    def names(self):
        return list(self._arrays)

    def __getitem__(self, name):
        return self._arrays[self._known(name)]

    def __contains__(self, name):
        return name in self._arrays

    def __len__(self):
        return len(self.step)

    def kind(self, name):
        """'region', 'probe', 'line' or 'profile'."""
        return self._about[self._known(name)]["kind"]

    def field(self, name):
        """What was looked at: 'gas.density'."""
        return self._about[self._known(name)]["field"]

    def unit(self, name):
        """Of the field."""
        return self._about[self._known(name)]["unit"]

    def columns(self, name):
        return self._about[self._known(name)]["columns"]

    def places(self, name):
        """The points (n, 3) of a probe or a line, or None."""
        return self._about[self._known(name)].get("places")

    def edges(self, name):
        """The radii between the shells of a profile, one more than shells, or None."""
        return self._about[self._known(name)].get("edges")

    def joined(self, table):
        """A `Table` of the history with the columns of the arrays; of the lines that both have."""
        _, mine, theirs = np.intersect1d(self.step, table["step"].astype(np.int64), return_indices=True)
        names = [*table.names, *(column for name in self._arrays for column in self.columns(name))]
        values = [np.stack([table[name][theirs] for name in table.names], axis=1), *(a[mine] for a in self._arrays.values())]
        return Table(names, np.concatenate(values, axis=1), table.path, table.units)

    def _known(self, name):
        if name not in self._arrays:
            raise UsageError(f"{self.path} has no array '{name}'" + nearest(name, self._arrays))
        return name

    def __repr__(self):
        return f"AnalysisRows({len(self)} rows of {', '.join(self.names)})"
