"""The sections of a report on field files alone, without the folder of the run that wrote them."""
from pathlib import Path

import numpy as np

from tessera.plots.style import printed, time_text
from tessera.report import html, sections
from tessera.table import Table

MOST_STATES = 100  # whose values are read for the curves
MOST_NAMES = 12


class FieldFiles:
    """States in the order of time, with what the sections of a run ask for; `states` is a Series or a list."""

    def __init__(self, path, states):
        self.path, self.fields = Path(path), states
        self.name = self.path.resolve().name

    def exact(self):
        """Nothing: exact solutions are in decks."""
        return {}

    def table(self, progress=lambda text: None):
        """Least and largest value, and integral, of each field over time; of at most so many states."""
        chosen = np.unique(np.linspace(0, len(self.fields) - 1, min(len(self.fields), MOST_STATES)).astype(int))
        names = self.fields[-1].names[:MOST_NAMES]
        rows, units = [], {}
        for number in chosen:
            file = self.fields[int(number)]
            progress(f"reading step {file.step}")
            rows.append([file.step, file.time, file.dt, *(value for name in names for value in numbers_of(file, name))])
        for name in names:
            unit = self.fields[-1].field(name).unit
            units.update({f"{name}.min": unit, f"{name}.max": unit})
        columns = [f"{name}.{what}" for name in names for what in ("min", "max", "integral")]
        return Table(["step", "time", "dt", *columns], rows, units=units)


def numbers_of(file, name):
    """(min, max, integral) of a field, of the length of one with several components; NaN where the file has it not."""
    if name not in file.names:
        return (float("nan"),) * 3
    name = name if file.field(name).components == 1 else f"{name}:mag"
    return (*file.extremes(name), file.integral(name))


def overview(page, files):
    first, last = files.fields[0], files.fields[-1]
    rows = [["states", len(files.fields)], ["first", time_text(first)], ["last", time_text(last)], ["levels", len(last.levels)],
            ["cells, finest counted once", last.leaf_cells()]]
    rows += [[label, value] for label, value in (("program", last.code_version), ("git", last.git), ("run id", last.run_id),
                                                 ("SHA-256 of the deck", last.deck_sha256)) if value]
    about = []
    for field in last.fields:
        low, high, integral = numbers_of(last, field.name)
        about.append([field.name, field.components, field.centering, low, high, integral, printed(field.unit)])
    page.section("overview", "Overview", html.table(["", "value"], [[a, html.shown(b)] for a, b in rows]),
                 "<h3>Fields of the last state</h3>", html.table_with_units(
                     ["field", "components", "on each", "least", "largest", "integral", "unit"], about),
                 html.note("Of a field with several components the length. Cells under finer ones do not count."))


def fill(page, files, progress=lambda text: None):
    """All sections."""
    overview(page, files)
    sections.pictures(page, files, progress)
    if len(files.fields) > 1:
        table = files.table(progress)
        sections.history(page, files, table, "states")
        sections.conserved(page, table)
    sections.mesh(page, files)
