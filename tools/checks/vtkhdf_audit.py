#!/usr/bin/env python3
"""Checks field files of Tessera against the layout rules that readers of VTKHDF OverlappingAMR rely on.

    vtkhdf_audit.py FILE...        needs h5py and numpy

Prints one line for each finding and exits 1 when there is any; prints "FILE: ok ..." and exits 0 otherwise.
"""
import sys

import h5py
import numpy as np

TYPE = b"OverlappingAMR"


class Audit:
    """Collects the findings of one file."""

    def __init__(self, path):
        self.path = path
        self.findings = []
        self.levels = []  # (boxes, spacing) of each level
        self.names = {}  # group name -> sorted names of its arrays on level 0

    def require(self, condition, text):
        if not condition:
            self.findings.append(text)
        return bool(condition)

    def run(self):
        with h5py.File(self.path, "r") as file:
            if not self.require("VTKHDF" in file, "there is no group /VTKHDF"):
                return
            root = file["VTKHDF"]
            self.check_root(root)
            count = sum(name.startswith("Level") for name in root)
            self.require(count > 0, "there is no level")
            for number in range(count):
                if self.require(f"Level{number}" in root, f"Level{number} is missing: levels count up from 0 without a gap"):
                    self.check_level(root[f"Level{number}"], number)
            for number in range(1, len(self.levels)):
                self.check_ratio_and_nesting(number)
            self.check_own(file)

    def check_root(self, root):
        if self.require("Type" in root.attrs, "/VTKHDF has no attribute Type"):
            kind = root.attrs.get_id("Type").get_type()
            fixed = isinstance(kind, h5py.h5t.TypeStringID) and not kind.is_variable_str()
            if self.require(fixed, "Type is not a text of fixed length"):
                self.require(kind.get_size() == len(TYPE), f"Type has {kind.get_size()} bytes instead of {len(TYPE)}")
                self.require(kind.get_strpad() == h5py.h5t.STR_NULLPAD, "Type is not padded with NUL (NULLPAD)")
                self.require(kind.get_cset() == h5py.h5t.CSET_ASCII, "Type is not ASCII")
                self.require(bytes(root.attrs["Type"]) == TYPE, f"Type is {root.attrs['Type']!r} instead of {TYPE!r}")
        version = np.asarray(root.attrs.get("Version", []))
        good = version.shape == (2,) and np.issubdtype(version.dtype, np.integer) and version[0] == 1
        self.require(good, f"Version is {version} instead of [1 0], the oldest with AMR")
        origin = np.asarray(root.attrs.get("Origin", []))
        self.require(origin.shape == (3,) and origin.dtype == np.float64 and np.isfinite(origin).all(),
                     "Origin is not three finite float64")

    def check_level(self, level, number):
        where = f"Level{number}"
        spacing = np.asarray(level.attrs.get("Spacing", []))
        if not self.require(spacing.shape == (3,) and (spacing > 0).all(), f"{where}: Spacing is not three numbers above 0"):
            return
        boxes = level["AMRBox"][...] if "AMRBox" in level else np.zeros((0, 0))
        good = boxes.ndim == 2 and boxes.shape[1:] == (6,) and len(boxes) > 0 and boxes.dtype == np.int32
        if not self.require(good, f"{where}: AMRBox is not a list of six int32 a patch"):
            return
        extents = boxes[:, 1::2].astype(np.int64) - boxes[:, 0::2] + 1
        self.require((extents > 0).all(), f"{where}: a box is empty")
        self.check_disjoint(boxes, where)
        self.check_arrays(level, where, "CellData", np.prod(extents, axis=1).sum())
        self.check_arrays(level, where, "PointData", np.prod(extents + 1, axis=1).sum())
        self.levels.append((boxes.astype(np.int64), spacing))

    def check_disjoint(self, boxes, where):
        order = np.argsort(boxes[:, 4], kind="stable")
        for at, first in enumerate(order):
            a = boxes[first]
            for second in order[at + 1:]:
                b = boxes[second]
                if b[4] > a[5]:
                    break
                if (a[0::2] <= b[1::2]).all() and (b[0::2] <= a[1::2]).all():
                    self.findings.append(f"{where}: boxes {first} and {second} overlap")

    def check_arrays(self, level, where, group, entries):
        if not self.require(group in level, f"{where}: there is no group {group}"):
            return
        names = sorted(level[group])
        expected = self.names.setdefault(group, names)
        self.require(names == expected, f"{where}: {group} has the arrays {names}, level 0 has {expected}")
        for name in names:
            data = level[group][name]
            item = f"{where}/{group}/{name}"
            self.require(data.ndim in (1, 2), f"{item}: it has {data.ndim} axes")
            self.require(data.shape[0] == entries, f"{item}: {data.shape[0]} entries instead of {entries}")
            self.require(data.chunks is None and data.id.get_create_plist().get_nfilters() == 0,
                         f"{item}: it is chunked or filtered")
            self.require(not data.external, f"{item}: its values lie in another file")
            self.require(np.isfinite(data[...]).all(), f"{item}: a value is not finite")

    def check_ratio_and_nesting(self, number):
        (coarse, wide), (fine, narrow) = self.levels[number - 1], self.levels[number]
        ratio = np.rint(wide / narrow).astype(np.int64)
        where = f"Level{number}"
        self.require(np.allclose(ratio, wide / narrow) and (ratio >= 1).all(), f"{where}: the ratio of spacings is not whole")
        # An axis of one cell, the third one of a plane run, may keep its spacing.
        thin = [bool((fine[:, 2 * d] == fine[:, 2 * d + 1]).all() and ratio[d] == 1) for d in range(3)]
        refined = {int(r) for r, flat in zip(ratio, thin) if not flat}
        self.require(len(refined) <= 1 and refined != {1}, f"{where}: the ratios {ratio} are not one number above 1")
        for index, box in enumerate(fine):
            lo = box[0::2] // ratio
            hi = box[1::2] // ratio
            covered = 0
            for parent in coarse:
                common = np.minimum(hi, parent[1::2]) - np.maximum(lo, parent[0::2]) + 1
                covered += int(np.prod(np.maximum(common, 0)))
            self.require(covered == int(np.prod(hi - lo + 1)), f"{where}: box {index} is not covered by the coarser level")

    def check_own(self, file):
        if not self.require("tessera" in file, "there is no group /tessera"):
            return
        own = file["tessera"]
        for name in ("format_version", "time", "dt", "step", "periodic", "code_version", "git", "deck_sha256", "run_id"):
            if self.require(name in own.attrs, f"/tessera has no attribute {name}"):
                self.require(own.attrs[name] != b"" if np.ndim(own.attrs[name]) == 0 else len(own.attrs[name]) > 0,
                             f"/tessera@{name} is empty")
        for number, (boxes, _) in enumerate(self.levels):
            level = own.get(f"levels/{number}")
            if not self.require(level is not None, f"/tessera/levels/{number} is missing"):
                continue
            domain = np.asarray(level.attrs["domain"])
            inside = (boxes[:, 0::2] >= domain[0::2]).all() and (boxes[:, 1::2] <= domain[1::2]).all()
            self.require(inside, f"Level{number}: a box leaves the domain {domain}")
            ids = level["patch_id"][...]
            self.require(len(ids) == len(boxes) and len(set(ids)) == len(ids),
                         f"/tessera/levels/{number}/patch_id does not name each patch once")


def main(paths):
    if not paths:
        print(__doc__)
        return 2
    bad = False
    for path in paths:
        audit = Audit(path)
        audit.run()
        for finding in audit.findings:
            print(f"{path}: {finding}")
        bad = bad or bool(audit.findings)
        if not audit.findings:
            patches = sum(len(boxes) for boxes, _ in audit.levels)
            print(f"{path}: ok, {len(audit.levels)} levels, {patches} patches")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
