"""Run folders: everything that `tessera run` leaves, by name (docs/user/run_folder.md)."""
from functools import cached_property
from pathlib import Path

import numpy as np

from tessera.analysis_rows import AnalysisRows
from tessera.checkpoint import Checkpoint
from tessera.deck import Deck
from tessera.errors import InputError, UsageError
from tessera.field_file import FieldFile
from tessera.files import parse_json, read_json, read_text
from tessera.job_folder import result_folder
from tessera.table import Table


class Series:
    """Field files in the order of time; a sequence of `FieldFile`, opened when they are asked for."""

    def __init__(self, entries):
        self._entries = sorted(entries)  # (time, path)
        self._open = {}

    @classmethod
    def of_folder(cls, folder):
        """Of all fields that a folder's .series file names; of all its .hdf files where there is no such file."""
        folder = Path(folder)
        listed = sorted(folder.glob("*.series"))
        if not listed:
            return cls([(FieldFile(path).time, path) for path in folder.glob("*.hdf")])
        return cls([entry for path in listed for entry in cls._listed(path)])

    @classmethod
    def of_file(cls, path):
        """Of the fields that one .series file names."""
        return cls(cls._listed(Path(path)))

    @staticmethod
    def _listed(path):
        try:
            entries = [(float(file["time"]), path.parent / file["name"]) for file in read_json(path)["files"]]
        except (ValueError, KeyError, TypeError) as problem:
            raise InputError(f"{path} is damaged: {problem}\n  fix  remove it; the .hdf files beside it are read"
                             " without it") from problem
        return [entry for entry in entries if entry[1].is_file()]

    def __len__(self):
        return len(self._entries)

    def __getitem__(self, number):
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        path = self._entries[number][1]
        if path not in self._open:
            while len(self._open) >= 8:  # field files are large, and a handle is kept for each
                self._open.pop(next(iter(self._open))).close()
            self._open[path] = FieldFile(path)
        return self._open[path]

    @property
    def times(self):
        return [time for time, _ in self._entries]

    @property
    def paths(self):
        return [path for _, path in self._entries]

    def at(self, time):
        """The fields whose time is nearest to `time`."""
        if not self._entries:
            raise InputError("the run has written no fields; give the deck an [output] table with `fields` and `every`")
        return self[min(range(len(self)), key=lambda n: abs(self.times[n] - time))]

    def step(self, number):
        """The fields of exactly this step."""
        for n, path in enumerate(self.paths):
            if path.stem.rpartition("_")[2].lstrip("0") == str(number).lstrip("0"):
                return self[n]
        steps = ", ".join(str(int(path.stem.rpartition("_")[2])) for path in self.paths)
        raise UsageError(f"there are no fields of step {number}; there are those of {steps}")

    def covering_grids(self, name):
        """(times, values[time, x, y, z]) of all states in one array, at the cell size of the finest level that any of them
        has: a mesh that follows the solution may have more levels at one time than at another."""
        deepest = max((self[n] for n in range(len(self))), key=lambda file: len(file.levels))
        levels, ratios = len(deepest.levels), [deepest.ratio(n) for n in range(len(deepest.levels))]
        grids = []
        for n in range(len(self)):
            values = self[n].covering_grid(name).values
            for ratio in ratios[len(self[n].levels):levels]:
                for axis in range(3):
                    values = np.repeat(values, ratio[axis], axis=axis)
            grids.append(values)
        return np.array(self.times), np.stack(grids)

    def __repr__(self):
        return f"Series({len(self)} field files, t = {self.times[0]:g} to {self.times[-1]:g})" if self else "Series(none)"


class Run:
    """A run folder, of a run that has ended or goes on.

        run = Run("cosine")
        run.fields[-1].slice("temperature")
        run.history["heat.total"]
        run.result["status"], run.deck.get("grid.cells"), run.checkpoints
    """

    def __init__(self, path):
        self.path = Path(path)
        if not self.path.is_dir():
            raise InputError(f"there is no run folder {self.path}\n  fix  tessera run DECK makes one and prints its name")
        if not (self.path / "deck.toml").is_file():
            raise InputError(f"{self.path} is not a run folder: it has no deck.toml\n  fix  give the folder that"
                             " `tessera run` made; single field files (.hdf) can be given as they are")

    @property
    def name(self):
        return self.path.resolve().name

    @cached_property
    def deck(self):
        """The values of the run, with those of the command line and all defaults."""
        resolved = self.path / "resolved.toml"
        return Deck.read(resolved if resolved.is_file() else self.path / "deck.toml")

    @property
    def deck_text(self):
        """The deck as it was given, byte by byte."""
        return read_text(self.path / "deck.toml")

    @cached_property
    def fields(self):
        return Series.of_folder(self.path / "out")

    @cached_property
    def planes(self):
        """{name: Series} of the planes of the deck's [[analysis.plane]]."""
        end = ".hdf.series"
        return {path.name[:-len(end)]: Series.of_file(path) for path in sorted((self.path / "planes").glob(f"*{end}"))}

    @property
    def history(self):
        """history.csv as it is now, with the columns of analysis.hdf where [analysis] writes that."""
        table = Table.read(self.path / "history.csv")
        return self.analysis.joined(table) if (self.path / "analysis.hdf").is_file() else table

    @property
    def analysis(self):
        """The numbers of [analysis] as arrays, where the deck says format = "hdf5"."""
        return AnalysisRows(self.path / "analysis.hdf")

    @property
    def statistics(self):
        """statistics.csv as it is now: what steps cost."""
        return Table.read(self.path / "statistics.csv")

    @property
    def result(self):
        """result.json, or {} while the run goes on."""
        return self._json("result.json")

    @property
    def provenance(self):
        return self._json("provenance.json")

    @property
    def is_active(self):
        """True while a process holds the folder, as far as its lock tells."""
        lock = self.path / "lock"
        return not self.result and lock.is_file() and lock.stat().st_size > 0

    @property
    def log(self):
        """The lines of log.jsonl, each a dict."""
        path = self.path / "log.jsonl"
        lines = read_text(path).splitlines() if path.is_file() else []
        entries = []
        for line in lines:
            try:
                entries.append(parse_json(line, dict, path))
            except InputError:
                break  # the last line is being written
        return entries

    @property
    def checkpoints(self):
        """All checkpoints that are whole as far as their manifests tell, oldest first."""
        found = [Checkpoint(path.parent) for path in (self.path / "checkpoints").glob("ckpt-*/manifest.json")
                 if path.parent.suffix != ".tmp"]
        return sorted(found, key=lambda checkpoint: checkpoint.step)

    @property
    def trace_path(self):
        """trace.json.gz of the folder, or None."""
        path = self.path / "trace.json.gz"
        return path if path.is_file() else None

    @cached_property
    def trace(self):
        from tessera.trace import Trace

        if self.trace_path is None:
            raise InputError(f"{self.path} has no trace\n  fix  make one: tessera run DECK --trace")
        return Trace(self.trace_path)

    def exact(self):
        """{field: Expression} of the exact solutions in the deck."""
        return self.deck.exact(self.fields[-1].names) if self.fields else {}

    def _json(self, name):
        path = self.path / name
        return read_json(path) if path.is_file() else {}

    def __repr__(self):
        status = self.result.get("status", "goes on" if self.is_active else "no result")
        return f"Run({self.path}, {status}, {len(self.fields)} field files)"


def load(path):
    """Opens what it is: a run folder, that of a job or an ensemble, a field file (.hdf), a .series file, a checkpoint, a trace
    or a history."""
    path = Path(path)
    if not path.exists():
        raise InputError(f"there is no {path}\n  fix  give a run folder, a field file (.hdf), a checkpoint or a trace")
    if path.is_dir():
        if (path / "manifest.json").is_file():
            return Checkpoint(path)
        other = result_folder(path)
        if other is not None:
            return other
        return Run(path) if (path / "deck.toml").is_file() or not list(path.glob("*.hdf")) else Series.of_folder(path)
    if path.suffix == ".series":
        return Series.of_file(path)
    if path.suffix == ".csv":
        return Table.read(path)
    if path.name.endswith((".json.gz", ".json")):
        from tessera.trace import Trace

        return Trace(path)
    return FieldFile(path)
