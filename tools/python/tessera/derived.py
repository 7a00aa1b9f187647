"""Fields that a file does not hold but that follow from those it holds: pressure, velocity, schlieren; and formulas.

    fields.covering_grid("pressure")                         # of a gas: density, momentum and energy
    fields.slice("=gas.momentum_x / gas.density")            # a formula of fields, x, y, z, t and constants of the deck
    fields.slice("=gradient(temperature)")                   # also dx(...), dy(...), dz(...)
    fields.slice("schlieren(temperature)")                   # exp(-15 |grad f| / max |grad f|), as if by light
"""
import re

import numpy as np

from tessera.errors import UsageError, nearest
from tessera.expression import Expression

SCHLIEREN = 15.0  # how dark the largest gradient is

SQUARE = "({p}.momentum_x^2 + {p}.momentum_y^2 + {p}.momentum_z^2)"
# Of variables with the components density, momentum_x, _y, _z and energy: formula and unit.
GAS = {
    "pressure": ("(gamma - 1)*({p}.energy - " + SQUARE + "/(2*{p}.density))", "energy/length^3"),
    "speed": ("sqrt" + SQUARE + "/{p}.density", "length/time"),
    "velocity_x": ("{p}.momentum_x/{p}.density", "length/time"),
    "velocity_y": ("{p}.momentum_y/{p}.density", "length/time"),
    "velocity_z": ("{p}.momentum_z/{p}.density", "length/time"),
    "sound_speed": ("sqrt(gamma*{p}.pressure/{p}.density)", "length/time"),
    "mach": ("{p}.speed/{p}.sound_speed", "1"),
    "internal_energy": ("{p}.pressure/((gamma - 1)*{p}.density)", "energy/mass"),
    "entropy": ("{p}.pressure/{p}.density^gamma", "1"),
    "vorticity_x": ("dy({p}.velocity_z) - dz({p}.velocity_y)", "1/time"),
    "vorticity_y": ("dz({p}.velocity_x) - dx({p}.velocity_z)", "1/time"),
    "vorticity_z": ("dx({p}.velocity_y) - dy({p}.velocity_x)", "1/time"),
    "vorticity": ("sqrt({p}.vorticity_x^2 + {p}.vorticity_y^2 + {p}.vorticity_z^2)", "1/time"),
    "divergence": ("dx({p}.velocity_x) + dy({p}.velocity_y) + dz({p}.velocity_z)", "1/time"),
    "schlieren": ("schlieren({p}.density)", "1"),
}
GAS_PARTS = ("density", "momentum_x", "momentum_y", "momentum_z", "energy")
SOLID = "euler.solid"  # where it is not 0 there is no gas


def gases(file):
    """The variables of a file that are gases: 'gas'."""
    ends = ".density"
    return [name[:-len(ends)] for name in file.names if name.endswith(ends)
            and all(f"{name[:-len(ends)]}.{part}" in file.names for part in GAS_PARTS)]


def derived_names(file):
    """What can be computed of a file by name alone."""
    return [f"{gas}.{name}" for gas in gases(file) for name in GAS]


def short_name(file, name):
    """'pressure' -> 'gas.pressure', where there is one gas."""
    known = gases(file)
    return f"{known[0]}.{name}" if len(known) == 1 and name in GAS and name not in file.names else name


def shown_names(file):
    """The fields worth a picture: of a gas its density, pressure, velocity and schlieren in the place of what is conserved."""
    found = [name for name in file.names if name != SOLID]
    lo, hi = file.domain(0)
    for gas in gases(file):
        at = found.index(f"{gas}.density")
        found = [name for name in found if name not in {f"{gas}.{part}" for part in GAS_PARTS}]
        is_line = int((lo < hi).sum()) < 2
        wanted = ["density", *(["pressure"] if "gamma" in file.constants else []), "velocity_x" if is_line else "speed",
                  *([] if is_line else ["schlieren"])]
        found[at:at] = [f"{gas}.{name}" for name in wanted]
    return found


def formula_of(file, name):
    """The `Formula` behind a name that is not a field's, or None."""
    name = short_name(file, name)
    if name.startswith("="):
        return Formula(file, name[1:])
    gas, _, what = name.rpartition(".")
    if gas in gases(file) and what in GAS:
        text, unit = GAS[what]
        return formula_text(file, text.format(p=gas), unit)
    return formula_text(file, name, "1") if re.fullmatch(r"schlieren\(.+\)", name) else None


def formula_text(file, text, unit):
    inside = re.fullmatch(r"schlieren\((.+)\)", text)
    if inside:
        return Schlieren(file, f"gradient({inside.group(1)})")
    return Formula(file, text, unit)


def slope(values, h, axis):
    """Differences along an axis over both neighbours, or over the one that has a value; 0 along an axis of one cell.

        >>> slope(np.array([0.0, 1.0, 4.0, np.nan]), 0.5, 0)
        array([ 2.,  4.,  6., nan])
    """
    if values.shape[axis] == 1:
        return np.where(np.isnan(values), np.nan, 0.0)
    apart = np.diff(values, axis=axis) / h
    none = np.full_like(np.take(values, [0], axis=axis), np.nan)
    after, before = np.concatenate([apart, none], axis=axis), np.concatenate([none, apart], axis=axis)
    both = 0.5 * (before + after)
    return np.where(np.isnan(both), np.where(np.isnan(after), before, after), both)


def _along(axis):
    return lambda places, values: slope(_whole(places, values), places["spacing"][axis], axis)


def _gradient(places, values):
    values = _whole(places, values)
    return np.sqrt(sum(slope(values, places["spacing"][axis], axis) ** 2 for axis in range(3)))


def _whole(places, values):
    return np.broadcast_to(np.asarray(values, float), places["shape"])


DERIVATIVES = {"dx": _along(0), "dy": _along(1), "dz": _along(2), "gradient": _gradient}


class Formula:
    """A field by a formula; `on(patch)` gives its values, one a cell."""

    def __init__(self, file, text, unit=""):
        self.file, self.text, self.unit = file, text, unit
        self._expression = Expression(text, file.constants, self._resolve, DERIVATIVES)
        self.reach = self._expression.reach

    def _resolve(self, name):
        known = self.file.names
        if name in known:
            if self.file.field(name).components != 1:
                raise UsageError(f"the formula '{self.text}' names {name}, which has several numbers a cell; only fields of"
                                 " one can be in a formula")
            return (lambda places: places["field"](name)), 0
        inner = formula_of(self.file, name)
        if inner is not None:
            if isinstance(inner, Schlieren):
                raise UsageError(f"the formula '{self.text}' names {name}, which cannot be a part of a formula")
            return inner.part, inner.reach
        if name == "gamma" and name not in self.file.constants:
            raise UsageError(f"{self.file.path} does not lie in the run folder whose deck says gamma, the ratio of specific heats"
                             "\n  fix  give the run folder; in Python: fields.constants['gamma'] = 1.4")
        if "." in name:
            raise UsageError(f"the formula '{self.text}' names {name}, and {self.file.path} has no such field"
                             + nearest(name, [*known, *derived_names(self.file)]))
        return None

    def part(self, places):
        """The value as a part of another formula."""
        return self._expression.on(places)

    def on(self, patch):
        """One number for each cell of the patch, indexed [x, y, z]."""
        file, level, reach = self.file, patch.level, self.reach
        lo, hi = patch.lo, patch.hi
        if reach:
            first, last = file.domain(level.number)
            grown = np.where((first < last), reach, 0)
            wraps = np.array(file.periodic) & (first < last)
            lo = np.where(wraps, lo - grown, np.maximum(lo - grown, first))
            hi = np.where(wraps, hi + grown, np.minimum(hi + grown, last))
        places = _places(file, patch, lo, hi)
        values = _whole(places, self.part(places))
        return np.array(values[tuple(slice(b - a, e - a + 1) for a, b, e in zip(lo, patch.lo, patch.hi))])


class Schlieren:
    """exp(-15 |grad f| / max |grad f|), the largest gradient being that of the whole file."""

    unit, reach = "1", 1

    def __init__(self, file, gradient):
        self._gradient = Formula(file, gradient)
        self.file, self.text = file, gradient

    def on(self, patch):
        known = self.file.__dict__.setdefault("_largest", {})
        if self.text not in known:
            known[self.text] = max((float(np.nanmax(np.where(p.leaves, self._gradient.on(p), np.nan), initial=0.0))
                                    for level in self.file.levels for p in level.patches), default=0.0)
        return np.exp(-SCHLIEREN * self._gradient.on(patch) / (known[self.text] or 1.0))


def _places(file, patch, lo, hi):
    """What the formulas ask for, on the cells lo..hi of the patch's level."""
    spacing = patch.level.spacing
    axes = [file.origin[a] + spacing[a] * (np.arange(lo[a], hi[a] + 1) + 0.5) for a in range(3)]
    x, y, z = np.meshgrid(*axes, indexing="ij", sparse=True)
    is_patch = (lo == patch.lo).all() and (hi == patch.hi).all()
    known = {}

    def read(name):
        return file.cell_values(patch, name) if is_patch else _around(file, patch.level, name, lo, hi)

    def field(name):
        if name not in known:
            known[name] = read(name)
            if SOLID in file.names and name.rpartition(".")[0] in gases(file):
                known[name] = np.where(read(SOLID) == 0, known[name], np.nan)
        return known[name]

    return {"x": x, "y": y, "z": z, "t": np.asarray(file.time), "spacing": spacing, "shape": tuple(hi - lo + 1), "field": field}


def _around(file, level, name, lo, hi):
    """Values of the cells of one level, means of the finer cells where they are covered, NaN where the level is not; what lies
    beyond a periodic side is the other one's. A level is at least two cells wide, so every cell has a neighbour of its size."""
    first, last = file.domain(level.number)
    for a in range(3):
        count = last[a] - first[a] + 1
        for beyond, cut, shift in ((lo[a] < first[a], first[a], count), (hi[a] > last[a], last[a] + 1, -count)):
            if beyond:  # two parts, the one beyond taken from the other end
                below, above = [lo.copy(), hi.copy()], [lo.copy(), hi.copy()]
                below[1][a], above[0][a] = cut - 1, cut
                for end in below if shift > 0 else above:
                    end[a] += shift
                return np.concatenate([_around(file, level, name, *below), _around(file, level, name, *above)], axis=a)
    values = np.full(tuple(hi - lo + 1), np.nan)
    los, his = (np.array([getattr(p, end) for p in level.patches]) for end in ("lo", "hi"))
    for number in np.flatnonzero(((los <= hi) & (his >= lo)).all(axis=1)):
        patch = level.patches[number]
        begin, end = np.maximum(lo, patch.lo), np.minimum(hi, patch.hi) + 1
        to, of = (tuple(slice(begin[a] - at[a], end[a] - at[a]) for a in range(3)) for at in (lo, patch.lo))
        is_covered = not patch.leaves[of].all()
        values[to] = file._grid(name, level.number, begin, end - 1).values if is_covered else file.cell_values(patch, name)[of]
    return values
