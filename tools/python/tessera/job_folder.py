"""Folders of `tessera job` and `tessera ensemble`: results, pictures and tables (docs/irregular.md, docs/user/ensemble.md)."""
import csv
import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from tessera.deck import Deck
from tessera.errors import InputError
from tessera.files import damage_of, read_json, read_text


@dataclass
class Number:
    """One number of a result; `expected` are the right answers of the deck: value, room, at_most, as_expected."""

    value: float
    deviation: float = 0.0
    expected: list = field(default_factory=list)


class ResultFolder:
    """What folders of jobs and ensembles have in common: a deck, pictures, tables."""

    def __init__(self, path):
        self.path = Path(path)
        self.deck = Deck.read(self.path / "deck.toml")

    @property
    def name(self):
        return self.path.resolve().name

    @property
    def pictures(self):
        """What the program has drawn (.png), by name."""
        return sorted(self.path.glob("*.png"))

    @cached_property
    def tables(self):
        """{name: {column: list of texts}} of the .csv files."""
        found = {}
        for path in sorted(self.path.glob("*.csv")):
            rows = list(csv.reader(read_text(path).splitlines()))
            if not rows:
                raise InputError(f"{path} is empty")
            with damage_of(path):
                found[path.stem] = {name: [row[n] for row in rows[1:] if row] for n, name in enumerate(rows[0])}
        return found

    def row_count(self, table):
        return len(next(iter(self.tables[table].values()), []))


class Job(ResultFolder):
    """The folder of `tessera job DECK`.

        job = tessera.load("skin")
        job.program, job.as_expected, job.numbers["diffuse"].value
    """

    @cached_property
    def result(self):
        return read_json(self.path / "result.json")

    @property
    def program(self):
        return str(self.result.get("program", self.deck.get("job.program", "")))

    @property
    def title(self):
        return str(self.deck.get("job.title", "") or self.name)

    @property
    def as_expected(self):
        return bool(self.result.get("as_expected"))

    @cached_property
    def numbers(self):
        """{name: Number}."""
        with damage_of(self.path / "result.json"):
            return {name: Number(float(one["value"]), float(one.get("deviation", 0.0)),
                                 [{**e, "value": float(e["value"]), "room": float(e["room"])} for e in one.get("expected", [])])
                    for name, one in self.result["numbers"].items()}

    def __repr__(self):
        return f"Job({self.path}, {self.program}, {'as expected' if self.as_expected else 'NOT as expected'})"


class Ensemble(ResultFolder):
    """The folder of `tessera ensemble DECK`: of stages, or of a replica exchange.

        ensemble = tessera.load("trajectories")
        ensemble.numbers("short", "largest_drift")        # numpy, a value a task; nan where it failed
    """

    @property
    def title(self):
        return str(self.deck.get("ensemble.title", "") or ("Replica exchange" if self.is_exchange else self.name))

    @property
    def stages(self):
        """The names of the stages, in the order of the deck."""
        return [stage["name"] for stage in self.deck.get("stages", [])]

    @property
    def is_exchange(self):
        return self.deck.get("replica_exchange") is not None

    def numbers(self, table, column):
        """A column of a table as numbers."""
        if column not in self.tables.get(table, {}):
            raise InputError(f"{self.path / table}.csv has no column '{column}'; the ensemble may not have run to its end")
        return np.array([float(text) if text else math.nan for text in self.tables[table][column]])

    def about(self, stage):
        """What the deck says of a stage."""
        return next(s for s in self.deck.get("stages", []) if s["name"] == stage)

    def results_of(self, stage):
        """The columns of a stage that its tasks have computed."""
        about = self.about(stage)
        given = {"index", "status", "code", *about.get("values", {}), *about.get("sweep", {})}
        return [name for name in self.tables.get(stage, {}) if name not in given]

    def __repr__(self):
        return f"Ensemble({self.path}, {'replica exchange' if self.is_exchange else ', '.join(self.stages)})"


def result_folder(path):
    """The `Job` or `Ensemble` of a folder, or None where it is that of a run or none."""
    path = Path(path)
    if not (path / "deck.toml").is_file() or (path / "resolved.toml").is_file():
        return None
    kind = {"job": Job, "ensemble": Ensemble}.get(Deck.read(path / "deck.toml").command)
    return None if kind is None else kind(path)
