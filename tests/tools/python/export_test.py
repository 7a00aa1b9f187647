"""Exports, read back by readers that know the published formats and nothing of our writer."""
import csv
import re
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import runs
import synthetic
from tessera import FieldFile, export

BOX = re.compile(r"\(\((-?\d+),(-?\d+),(-?\d+)\) \((-?\d+),(-?\d+),(-?\d+)\) \(0,0,0\)\)")


class Plotfile:
    """Reads a plotfile by the grammar of AMReX: WriteGenericPlotfileHeader, VisMF::Header and FArrayBox."""

    def __init__(self, path):
        self.path = Path(path)
        lines = iter((self.path / "Header").read_text(encoding="ascii").splitlines())
        assert next(lines) == "HyperCLaw-V1.1"
        self.names = [next(lines) for _ in range(int(next(lines)))]
        assert int(next(lines)) == 3
        self.time, self.finest = float(next(lines)), int(next(lines))
        self.lower, self.upper = ([float(v) for v in next(lines).split()] for _ in range(2))
        self.ratios = [int(v) for v in next(lines).split()]
        assert len(self.ratios) == self.finest
        self.domains = [[int(v) for v in found] for found in BOX.findall(next(lines))]
        assert len(self.domains) == self.finest + 1
        self.steps = [int(v) for v in next(lines).split()]
        self.spacing = [[float(v) for v in next(lines).split()] for _ in range(self.finest + 1)]
        assert (next(lines), next(lines)) == ("0", "0")  # Cartesian; no boundary width
        self.levels = [self._level(lines, level) for level in range(self.finest + 1)]
        assert next(lines, None) is None

    def _level(self, lines, level):
        number, patches, time = next(lines).split()
        assert (int(number), float(time)) == (level, self.time)
        assert int(next(lines)) == self.steps[level]
        bounds = [[[float(v) for v in next(lines).split()] for _ in range(3)] for _ in range(int(patches))]
        assert next(lines) == f"Level_{level}/Cell"
        return list(zip(bounds, self._fabs(level, int(patches))))

    def _fabs(self, level, patches):
        folder = self.path / f"Level_{level}"
        lines = iter((folder / "Cell_H").read_text(encoding="ascii").splitlines())
        assert (next(lines), next(lines)) == ("1", "1")  # version; one file, in order
        assert int(next(lines)) == len(self.names) and next(lines) == "0"  # no ghost cells
        assert next(lines) == f"({patches} 0"
        boxes = [[int(v) for v in BOX.fullmatch(next(lines)).groups()] for _ in range(patches)]
        assert next(lines) == ")" and int(next(lines)) == patches
        places = [re.fullmatch(r"FabOnDisk: (Cell_D_\d{5}) (\d+)", next(lines)).groups() for _ in range(patches)]
        tables = []
        for _ in range(2):
            assert next(lines) == "" and next(lines) == f"{patches},{len(self.names)}"
            tables.append([[float(v) for v in next(lines).rstrip(",").split(",")] for _ in range(patches)])
        return [self._fab(folder / name, int(at), box, tables[0][n], tables[1][n])
                for n, ((name, at), box) in enumerate(zip(places, boxes))]

    def _fab(self, path, at, box, lowest, highest):
        with open(path, "rb") as stream:
            stream.seek(at)
            line = stream.readline().decode("ascii").rstrip("\n")
            found = re.fullmatch(r"FAB \(\(8, \(64 11 52 0 1 12 0 1023\)\),\(8, \(8 7 6 5 4 3 2 1\)\)\)(\(\(.*\)\)) (\d+)", line)
            assert [int(v) for v in BOX.fullmatch(found.group(1)).groups()] == box and int(found.group(2)) == len(self.names)
            shape = [box[3 + a] - box[a] + 1 for a in range(3)]
            count = int(np.prod(shape)) * len(self.names)
            values = np.frombuffer(stream.read(8 * count), "<f8").reshape(len(self.names), *shape[::-1])
        for n in range(len(self.names)):
            assert (values[n].min(), values[n].max()) == (lowest[n], highest[n])
        return box, values.transpose(0, 3, 2, 1)


class ExportTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        synthetic.write(self.path / "fields_000007.hdf")
        self.file = FieldFile(self.path / "fields_000007.hdf")

    def tearDown(self):
        self.file.close()
        self.folder.cleanup()

    def check_plotfile(self, plot, file, ratios):
        self.assertEqual((plot.time, plot.steps, plot.ratios), (file.time, [file.step] * len(file.levels), ratios))
        for level, boxes in zip(file.levels, plot.levels):
            h, domain = np.array(plot.spacing[level.number]), plot.domains[level.number]
            cells = 0
            for bounds, (box, values) in boxes:
                lo, hi = np.array(box[:3]), np.array(box[3:])
                # Places of a box by its corners, and by its indices: the two ways in which readers find them.
                corners = np.array(plot.lower) + h * (np.array([lo, hi + 1]) - np.array(domain[:3]))
                np.testing.assert_allclose(np.array(bounds).T, corners, atol=1e-12)
                if level.number:  # as AMReX makes them: of whole coarser cells
                    ratio = ratios[level.number - 1]
                    self.assertTrue((lo % ratio == 0).all() and ((hi + 1) % ratio == 0).all())
                centres = [corners[0][a] + h[a] * (np.arange(hi[a] - lo[a] + 1) + 0.5) for a in range(3)]
                for patch in level.patches:
                    pick = [np.flatnonzero((centres[a] > patch.bounds[0][a]) & (centres[a] < patch.bounds[1][a])) for a in range(3)]
                    at = [np.floor((centres[a][pick[a]] - patch.bounds[0][a]) / level.spacing[a]).astype(int) for a in range(3)]
                    expected = file.cell_values(patch, file.names[0])[np.ix_(*at)]
                    np.testing.assert_array_equal(values[0][np.ix_(*pick)], expected)
                    cells += expected.size
                self.assertTrue(np.isfinite(values).all())
            scale = np.prod(level.spacing / h)
            self.assertAlmostEqual(cells, level.cells * scale)

    def test_a_plotfile_of_three_levels_has_every_value_in_its_place(self):
        plot = Plotfile(export.write_plotfile(self.file, self.path / "plt000007"))
        self.assertEqual(plot.names, ["density", "velocity_x", "velocity_y", "velocity_z", "potential"])
        self.check_plotfile(plot, self.file, [2, 4])
        self.assertEqual(plot.domains[2], [0, 0, 0, 63, 63, 31])

    def test_a_plane_run_is_refined_along_its_flat_axis_too(self):
        file = runs.three_levels().fields[-1]
        plot = Plotfile(export.write_plotfile(file, self.path / "plt"))
        self.check_plotfile(plot, file, [2, 4])
        self.assertEqual(plot.domains, [[0, 0, 0, 15, 15, 0], [0, 0, 0, 31, 31, 1], [0, 0, 0, 127, 127, 7]])
        for level in range(3):
            np.testing.assert_allclose(plot.spacing[level], [2**-4 / (1, 2, 8)[level]] * 2 + [1.0 / (1, 2, 8)[level]])

    def test_a_plotfile_of_a_run_in_three_dimensions(self):
        file = runs.two_levels().fields[-1]
        self.check_plotfile(Plotfile(export.write_plotfile(file, self.path / "plt")), file, [2])

    def test_nothing_is_overwritten_by_a_plotfile(self):
        (self.path / "plt").mkdir()
        code, _, error = runs.call("export", self.file.path, "--format", "plotfile", "-o", self.path / "plt")
        self.assertEqual(code, 5)
        self.assertIn("is there already", error)

    def test_image_data_have_the_covering_grid(self):
        path = export.write_image_data(self.file, self.path / "a.vti", level=1)
        raw = path.read_bytes()
        split = raw.index(b"_", raw.index(b"<AppendedData")) + 1
        end = raw.rindex(b"\n  </AppendedData>")
        root = ElementTree.fromstring(raw[:split - 1] + b"</AppendedData></VTKFile>")
        image = root.find("ImageData")
        self.assertEqual(image.get("WholeExtent"), "0 16 0 16 0 8")
        np.testing.assert_allclose([float(v) for v in image.get("Spacing").split()], synthetic.spacing(1))
        np.testing.assert_allclose([float(v) for v in image.get("Origin").split()], synthetic.LOWER)
        for array in image.find("Piece/CellData"):
            at = split + int(array.get("offset"))
            size = int.from_bytes(raw[at:at + 8], "little")
            values = np.frombuffer(raw[at + 8:at + 8 + size], "<f8").reshape(8, 16, 16).transpose(2, 1, 0)
            name = array.get("Name").replace("_", ":") if array.get("Name").startswith("velocity") else array.get("Name")
            np.testing.assert_array_equal(values, self.file.covering_grid(name, 1).values)
        self.assertEqual(at + 8 + size, end)

    def test_a_csv_has_a_line_for_each_leaf_and_keeps_the_integral(self):
        path = export.write_csv(self.file, self.path / "a.csv", ["density"])
        with open(path, newline="") as stream:
            rows = list(csv.DictReader(stream))
        self.assertEqual(len(rows), self.file.leaf_cells())
        total = sum(float(row["volume"]) * float(row["density"]) for row in rows)
        self.assertAlmostEqual(total, self.file.integral("density"), delta=1e-9)
        for row in rows[::37]:
            self.assertAlmostEqual(float(row["density"]), synthetic.linear(*(float(row[a]) for a in "xyz")), delta=1e-11)

    def test_an_archive_of_numpy(self):
        data = np.load(export.write_npz(self.file, self.path / "a.npz", level=0))
        np.testing.assert_array_equal(data["density"], self.file.covering_grid("density", 0).values)
        self.assertEqual(float(data["time"]), 0.5)
        for axis, name in enumerate("xyz"):
            h = synthetic.SPACING[axis]
            np.testing.assert_allclose(data[name], np.arange(synthetic.LOWER[axis] + h / 2, synthetic.UPPER[axis], h), rtol=1e-14)

    def test_the_command_writes_all_times(self):
        code, said, error = runs.call("export", runs.gaussian().path, "--format", "npz", "-o", self.path / "a.npz")
        self.assertEqual((code, said), (0, f"wrote {self.path / 'a.npz'}\n"), error)
        for arguments, said in ((["--format", "hdf4"], "there is plotfile, vti, csv, npz"),
                                (["--format", "csv", "--level", "0"], "--level is for vti and npz"),
                                (["--format", "npz", "--time", "all", "-o", "x"], "-o names one output"),
                                (["--format", "npz", "--field", "concentratio"], "did you mean 'concentration'"), ([], "--format")):
            code, _, error = runs.call("export", runs.gaussian().path, *arguments)
            self.assertEqual(code, 2)
            self.assertIn(said, error)


if __name__ == "__main__":
    unittest.main()
