"""Tables of numbers over time: history.csv and statistics.csv of a run."""
import csv
from pathlib import Path

import numpy as np

from tessera.errors import InputError, MissingPackage, UsageError, nearest
from tessera.files import read_json, read_text


class Table:
    """Columns by name; each a numpy array.

        table = run.history
        table["heat.total"], table["time"]
        table.names, len(table), table.last("heat.total"), table.to_pandas()
        table.unit("heat.total")                # "K m^3"; "" where it is not known, "1" of a number alone
    """

    def __init__(self, names, rows, path=None, units=None):
        self.names, self.path, self.units = list(names), path, dict(units or {})
        self._data = np.array(rows, dtype=float).reshape(len(rows), len(self.names))

    @classmethod
    def read(cls, path):
        """Reads a CSV file; a last line that is being written now is left out."""
        path = Path(path)
        if not path.is_file():
            raise InputError(f"there is no {path}\n  fix  give a run folder that `tessera run` has made")
        text = read_text(path)
        lines = [line for line in text[:text.rfind("\n") + 1].splitlines() if line and not line.startswith("#")]
        if not lines:
            raise InputError(f"{path} is empty; the run has not written its first line yet")
        names = next(csv.reader([lines[0]]))
        rows = []
        for number, cells in enumerate(csv.reader(lines[1:]), 2):
            try:
                rows.append([float(cell) for cell in cells])
            except ValueError as problem:
                raise InputError(f"{path}:{number}: {problem}; the file is damaged") from problem
            if len(cells) != len(names):
                raise InputError(f"{path}:{number}: {len(cells)} numbers under {len(names)} names; the file is damaged")
        return cls(names, rows, path, units_beside(path))

    def __getitem__(self, name):
        if name not in self.names:
            raise UsageError(f"{self.path or 'the table'} has no column '{name}'" + nearest(name, self.names))
        return self._data[:, self.names.index(name)]

    def __contains__(self, name):
        return name in self.names

    def __len__(self):
        return len(self._data)

    def __iter__(self):
        return iter(self.names)

    @property
    def diagnostics(self):
        """The names without step, time and dt."""
        return [name for name in self.names if name not in ("step", "time", "dt")]

    def last(self, name):
        """The newest value of a column."""
        column = self[name]
        return float(column[-1]) if len(column) else float("nan")

    def unit(self, name):
        """What a column is in; "" where nobody has said."""
        if name not in self.names:
            raise UsageError(f"{self.path or 'the table'} has no column '{name}'" + nearest(name, self.names))
        return self.units.get(name, "")

    def to_pandas(self):
        """A pandas DataFrame, where pandas is installed; its attrs["units"] are the units."""
        try:
            import pandas
        except ImportError as missing:
            raise MissingPackage("pandas", "to_pandas()") from missing
        frame = pandas.DataFrame(self._data, columns=self.names)
        frame.attrs["units"] = dict(self.units)
        return frame

    def __repr__(self):
        return f"Table({len(self)} rows of {', '.join(self.names)})"


def units_beside(path):
    """{column: unit} of the history.json beside a history.csv."""
    beside = path.with_suffix(".json")
    if path.name != "history.csv" or not beside.is_file():
        return {}
    units = read_json(beside).get("units")
    if not isinstance(units, dict):
        raise InputError(f"{beside} is damaged: it has no table of units\n  fix  remove it; history.csv is read without it")
    return {str(name): str(unit) for name, unit in units.items()}
