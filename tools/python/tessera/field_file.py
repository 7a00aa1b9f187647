"""Field files: values on the patches of one or several levels at one time (VTKHDF OverlappingAMR).

Everything here needs the file alone, not the run folder that it came from.
"""
import os
from functools import cached_property
from pathlib import Path

import numpy as np

from tessera.deck import Deck
from tessera.derived import derived_names, formula_of, shown_names
from tessera.errors import InputError, UsageError, nearest
from tessera.files import damage_of, hdf5_package
from tessera.sampling import Sampling

AXES = "xyz"
# Of /tessera/fields/NAME@centering, as grid/ numbers them.
CENTERINGS = ("cell", "node", "face x", "face y", "face z")


def with_unit(name, unit):
    """
        >>> with_unit("density", "kg/m^3"), with_unit("time", "time"), with_unit("part", "1")
        ('density (kg/m^3)', 'time', 'part')
    """
    return name if unit in ("", "1", name) else f"{name} ({unit})"


def unit_shown(unit):
    """Numbers alone have none."""
    return "" if unit == "1" else unit


class Field:
    """What a file says of one variable: name, unit, number of components, where its values live."""

    def __init__(self, name, unit="", components=1, centering="cell"):
        self.name, self.unit, self.components, self.centering = name, unit, components, centering

    @property
    def label(self):
        """The name with its unit, for axes of pictures."""
        return with_unit(self.name, self.unit)

    def __repr__(self):
        return f"Field({self.label}, {self.components} component(s) per {self.centering})"


class Patch:
    """One box of cells of a level; `lo` and `hi` are its first and last cell, both included, on its own level."""

    def __init__(self, level, number, patch_id, box, start):
        self.level, self.number, self.id = level, number, int(patch_id)
        self.lo, self.hi = np.array(box[0::2], dtype=np.int64), np.array(box[1::2], dtype=np.int64)
        self.start = start  # the place of its first value in the level's arrays: (cells, nodes)

    @property
    def shape(self):
        """Cells along x, y and z."""
        return tuple(int(n) for n in self.hi - self.lo + 1)

    @property
    def bounds(self):
        """(lower, upper) corner in space."""
        file = self.level.file
        return file.origin + self.level.spacing * self.lo, file.origin + self.level.spacing * (self.hi + 1)

    def centres(self, axis):
        """Coordinates of the cell centres along one axis (0, 1, 2)."""
        lower, _ = self.bounds
        return lower[axis] + self.level.spacing[axis] * (np.arange(self.shape[axis]) + 0.5)

    def array(self, name):
        """Cell values of a field, indexed [x, y, z] (and [component] where there are several).

        Values of nodes are averaged to the cells; values of faces are stored averaged as well, `faces` has them raw.
        """
        if name not in self.level.file.names:
            return self.level.file.cell_values(self, name)
        field = self.level.file.field(name)
        group = "PointData" if field.centering == "node" else "CellData"
        raw = self._read(f"VTKHDF/Level{self.level.number}/{group}/{name}", field, group == "PointData")
        if group == "CellData":
            return raw
        return sum(raw[i:i + self.shape[0], j:j + self.shape[1], k:k + self.shape[2]]
                   for i in (0, 1) for j in (0, 1) for k in (0, 1)) / 8.0

    def nodes(self, name):
        """Values at the nodes, one more than cells along each axis."""
        field = self.level.file.field(name)
        if field.centering != "node":
            raise UsageError(f"{name} lives on each {field.centering}, not on nodes; array('{name}') has it per cell")
        return self._read(f"VTKHDF/Level{self.level.number}/PointData/{name}", field, True)

    def faces(self, name):
        """Raw values of a field on faces, one more than cells along the axis of the faces."""
        field = self.level.file.field(name)
        if not field.centering.startswith("face"):
            raise UsageError(f"{name} lives on each {field.centering}, not on faces; array('{name}') has it per cell")
        axis = AXES.index(field.centering[-1])
        shape = [n + (1 if a == axis else 0) for a, n in enumerate(self.shape)]
        before = [p for p in self.level.patches if p.number < self.number]
        start = sum(int(np.prod([n + (1 if a == axis else 0) for a, n in enumerate(p.shape)])) for p in before)
        return self._shaped(f"tessera/levels/{self.level.number}/faces/{name}", start, shape, field)

    def _read(self, dataset, field, at_nodes):
        shape = [n + 1 for n in self.shape] if at_nodes else list(self.shape)
        return self._shaped(dataset, self.start[1 if at_nodes else 0], shape, field)

    def _shaped(self, dataset, start, shape, field):
        count = int(np.prod(shape))
        with damage_of(self.level.file.path):
            flat = self.level.file.dataset(dataset)[start:start + count]
        if len(flat) != count:
            raise InputError(f"{self.level.file.path}: {dataset} ends in the middle of patch {self.id}; the file is cut")
        tail = [field.components] if field.components > 1 else []
        array = np.asarray(flat).reshape(shape[::-1] + tail)  # on disk x runs fastest
        return array.transpose([2, 1, 0] + ([3] if tail else []))

    @cached_property
    def leaves(self):
        """True where no patch of the next finer level covers the cell, indexed [x, y, z]."""
        return self.level.file.uncovered(self)

    def __repr__(self):
        return f"Patch(L{self.level.number}/P{self.id:04d}, {list(self.lo)}..{list(self.hi)})"


class Level:
    """All patches of one cell size."""

    def __init__(self, file, number, spacing, boxes, ids, domain):
        self.file, self.number = file, number
        self.spacing = np.asarray(spacing, dtype=float)
        self.domain = np.asarray(domain, dtype=np.int64) if domain is not None else None
        self.patches, cells, nodes = [], 0, 0
        for n, box in enumerate(boxes):
            patch = Patch(self, n, ids[n] if ids is not None else n, box, (cells, nodes))
            cells += int(np.prod(patch.shape))
            nodes += int(np.prod([m + 1 for m in patch.shape]))
            self.patches.append(patch)

    @property
    def cells(self):
        """Number of cells, those under finer patches included."""
        return sum(int(np.prod(p.shape)) for p in self.patches)

    def __repr__(self):
        return f"Level({self.number}, {len(self.patches)} patches, {self.cells} cells)"


class FieldFile(Sampling):
    """Values of all fields at one time.

        file = FieldFile("cosine/out/fields_000550.hdf")
        file.names                                # ['temperature']
        file.covering_grid("temperature", level=0)    # one array over the whole domain
        file.slice("temperature", axis="z", at=0.5)   # a plane, at the resolution of the finest level
        file.levels[0].patches[3].array("temperature")
    """

    def __init__(self, path):
        self.path = Path(path)
        self._handle = None
        self._open()
        with damage_of(self.path):
            self._read_header()

    def _open(self):
        h5py = hdf5_package("reading fields")
        if not self.path.is_file():
            raise InputError(f"there is no field file {self.path}\n  fix  give a .hdf file, for example of RUN/out")
        try:
            # A run that goes on writes other files only; a lock would stop it.
            os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")
            self._handle = h5py.File(self.path, "r")
        except OSError as problem:
            raise InputError(f"{self.path} is not an HDF5 file, or is cut: {problem}\n"
                             "  fix  give a field file that a run wrote (RUN/out/*.hdf)") from problem
        with damage_of(self.path):
            ours = "VTKHDF" in self._handle
        if not ours:
            raise InputError(f"{self.path} has no group /VTKHDF, so it is not a field file of Tessera\n"
                             "  fix  give a file of RUN/out; checkpoints are read with tessera.load(CHECKPOINT)")

    def _read_header(self):
        root, own = self._handle["VTKHDF"], self._handle.get("tessera")
        attributes = dict(own.attrs) if own is not None else {}
        text = lambda key: _text(attributes.get(key, ""))  # noqa: E731
        self.origin = np.asarray(root.attrs["Origin"], dtype=float)
        self.step = int(attributes.get("step", 0))
        self.time = float(attributes.get("time", 0.0))
        self.dt = float(attributes.get("dt", 0.0))
        self.periodic = tuple(bool(p) for p in attributes.get("periodic", (0, 0, 0)))
        self.code_version, self.git = text("code_version"), text("git")
        self.deck_sha256, self.run_id = text("deck_sha256"), text("run_id")
        # Of [units] of the deck; without it the words that fields use too.
        self.length_unit, self.time_unit = text("length_unit") or "length", text("time_unit") or "time"
        self.levels = []
        while f"Level{len(self.levels)}" in root:
            number = len(self.levels)
            group, mine = root[f"Level{number}"], own.get(f"levels/{number}") if own is not None else None
            ids = mine["patch_id"][...] if mine is not None and "patch_id" in mine else None
            domain = mine.attrs["domain"] if mine is not None and "domain" in mine.attrs else None
            self.levels.append(Level(self, number, group.attrs["Spacing"], group["AMRBox"][...], ids, domain))
        if not self.levels:
            raise InputError(f"{self.path} has no level\n  fix  the file is damaged; take another one of the series")
        self.fields = self._read_fields(own, root["Level0"])

    def _read_fields(self, own, level):
        found = []
        for group in ("CellData", "PointData"):
            for name in level[group] if group in level else ():
                data = level[group][name]
                about = own[f"fields/{name}"].attrs if own is not None and f"fields/{name}" in own else {}
                default = 1 if group == "PointData" else 0
                field = Field(name, _text(about.get("unit", "")), data.shape[1] if data.ndim > 1 else 1,
                              CENTERINGS[int(about.get("centering", default))])
                found.append((int(about.get("order", len(found))), field))
        return [field for _, field in sorted(found, key=lambda pair: pair[0])]

    @property
    def names(self):
        """Names of all fields, in the order of the deck."""
        return [field.name for field in self.fields]

    def field(self, name):
        """The description of a field, also of one that is computed; UsageError that names what there is otherwise."""
        for field in self.fields:
            if field.name == name:
                return field
        computed = formula_of(self, name)
        if computed is None:
            raise UsageError(f"{self.path} has no field '{name}'" + nearest(name, [*self.names, *derived_names(self)]))
        return Field(name, computed.unit)

    @property
    def derived(self):
        """Names of what can be computed of the fields (derived.py), such as `gas.pressure`."""
        return derived_names(self)

    @property
    def shown(self):
        """Names of what is worth a picture: of a gas density, pressure, velocity and schlieren."""
        return shown_names(self)

    @cached_property
    def constants(self):
        """Constants that formulas may use: [constants] of the deck beside the file, and gamma of a gas."""
        beside = self.path.resolve().parent.parent / "resolved.toml"
        if not beside.is_file():
            return {}
        deck = Deck.read(beside)
        gammas = [deck.get(f"{name}.gamma") for name in deck.components]
        return {**deck.constants(), **{"gamma": float(g) for g in gammas if isinstance(g, (int, float))}}

    def dataset(self, name):
        if self._handle is None:
            self._open()
        with damage_of(self.path):
            if name not in self._handle:
                raise InputError(f"{self.path} has no {name}; the file is damaged or of another version")
            return self._handle[name]

    def ratio(self, level):
        """Refinement ratio of a level to the one below, along each axis (1 along an axis that is not refined)."""
        if level == 0:
            return np.ones(3, dtype=np.int64)
        return np.rint(self.levels[level - 1].spacing / self.levels[level].spacing).astype(np.int64)

    @property
    def bounds(self):
        """(lower, upper) corner of the domain in space."""
        lo, hi = self.domain(0)
        return self.origin + self.levels[0].spacing * lo, self.origin + self.levels[0].spacing * (hi + 1)

    def domain(self, level):
        """First and last cell of the domain in the index space of a level."""
        known = self.levels[0].domain
        if known is not None:
            lo, hi = known[0::2], known[1::2]
        else:
            lo = np.min([p.lo for p in self.levels[0].patches], axis=0)
            hi = np.max([p.hi for p in self.levels[0].patches], axis=0)
        for above in range(1, level + 1):
            ratio = self.ratio(above)
            lo, hi = lo * ratio, (hi + 1) * ratio - 1
        return lo, hi

    def uncovered(self, patch):
        mask = np.ones(patch.shape, dtype=bool)
        above = patch.level.number + 1
        if above < len(self.levels):
            ratio = self.ratio(above)
            for fine in self.levels[above].patches:
                lo = np.maximum(fine.lo // ratio, patch.lo) - patch.lo
                hi = np.minimum(fine.hi // ratio, patch.hi) - patch.lo + 1
                if (lo < hi).all():
                    mask[lo[0]:hi[0], lo[1]:hi[1], lo[2]:hi[2]] = False
        return mask

    def close(self):
        """Lets go of the file; the next read opens it again."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"FieldFile({self.path}, step {self.step}, t = {self.time:g}, {len(self.levels)} level(s))"


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
