"""extract, compare and convergence: their numbers, their codes, their JSON."""
import csv
import io
import json
import tempfile
import unittest
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import runs
import synthetic
import tessera
from tessera.commands import convergence_command
from tessera.difference import compare_fields


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


class ExtractTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "fields_000007.hdf"
        synthetic.write(self.path)

    def tearDown(self):
        self.folder.cleanup()

    def extract(self, *arguments):
        code, said, error = runs.call("extract", self.path, *arguments)
        self.assertEqual(code, 0, error)
        return said

    def test_a_line_has_every_cell_with_its_level(self):
        rows = table(self.extract("--line", "x@y=-0.1,z=2.9", "--field", "velocity:x"))
        self.assertEqual([int(r["level"]) for r in rows], [0] * 2 + [1] * 2 + [2] * 8 + [1] * 4 + [0] * 2)
        self.assertEqual([r["x"] for r in rows], [r["velocity:x"] for r in rows])
        self.assertEqual({r["time"] for r in rows}, {"0.5"})

    def test_points_are_of_the_finest_level(self):
        row, other = table(self.extract("--point", "0.45,-0.1,2.9", "--point", "0.01,-0.9,2.1", "--field", "velocity:x"))
        self.assertAlmostEqual(float(row["velocity:x"]), (np.floor(0.45 * 64) + 0.5) / 64)
        self.assertEqual(float(other["velocity:x"]), 0.0625)

    def test_a_plane_has_every_cell(self):
        rows = table(self.extract("--plane", "z=2.9", "--field", "density"))
        self.assertEqual(len(rows), 64 * 64)
        self.assertEqual(list(rows[0]), ["time", "step", "x", "y", "density"])

    def test_a_box_counts_cut_cells_in_part(self):
        # velocity:x is constant in a cell of level 0: over x in 0..0.1875 the mean is (0.0625 + 0.5 * 0.1875) / 1.5.
        row, = table(self.extract("--box", "0,-1,2:0.1875,-0.75,2.5", "--field", "velocity:x"))
        self.assertAlmostEqual(float(row["mean"]), (0.0625 + 0.5 * 0.1875) / 1.5)
        self.assertAlmostEqual(float(row["volume"]), 0.1875 * 0.25 * 0.5)
        whole, = table(self.extract("--box", "0,-1,2:1,1,4", "--field", "density"))
        self.assertAlmostEqual(float(whole["integral"]), tessera.FieldFile(self.path).integral("density"))

    def test_a_series_as_json(self):
        code, said, _ = runs.call("extract", runs.gaussian().path, "--point", "0.5,0.5,0.5", "--time", "all", "--json")
        rows = json.loads(said)
        self.assertEqual((code, len(rows)), (0, 3))
        self.assertEqual([row["time"] for row in rows], runs.gaussian().fields.times)

    def test_mistakes_are_sentences(self):
        for arguments, said in ((["--point", "9,9,9"], "outside of the domain, 0,-1,2 to 1,1,4"), ([], "is required"),
                                (["--point", "0,0,3", "--line", "x"], "not allowed with"), (["--box", "0,0,0"], "is not a box"),
                                (["--line", "x@x=1"], "is not a place beside x"), (["--point", "0,0"], "is not a point"),
                                (["--point", "inf,0,3"], "'inf' is not a value for --point")):
            code, _, error = runs.call("extract", self.path, *arguments)
            self.assertEqual(code, 2, error)
            self.assertIn(said, error)


class CompareTest(unittest.TestCase):
    def test_norms_are_weighted_by_volume_and_finest_cells_count(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = (Path(folder) / name for name in ("a.hdf", "b.hdf"))
            synthetic.write(first)
            # One more where x < 0.5: half of the volume, whatever the cells are.
            synthetic.write(second, function=lambda x, y, z: synthetic.linear(x, y, z) + (x < 0.5))
            found = compare_fields(tessera.FieldFile(first), tessera.FieldFile(second), "density")
            self.assertAlmostEqual(found.norms["l1"], 0.5)
            self.assertAlmostEqual(found.norms["l2"], np.sqrt(0.5))
            self.assertAlmostEqual(found.norms["max"], 1.0)
            self.assertLess(found.place[0], 0.5)
            self.assertEqual(found.cells, tessera.FieldFile(first).leaf_cells())
            self.assertAlmostEqual(np.nanmean(np.abs(found.plane("z", 2.9).values)), 0.5)

    def test_layouts_and_levels_may_differ(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = (Path(folder) / name for name in ("a.hdf", "b.hdf"))
            synthetic.write(first)
            boxes, synthetic.BOXES = synthetic.BOXES, [[(0, 7, 0, 3, 0, 3), (0, 7, 4, 7, 0, 3)], [(4, 11, 4, 11, 2, 5)]]
            try:
                synthetic.write(second)
            finally:
                synthetic.BOXES = boxes
            for a, b in ((first, second), (second, first)):
                found = compare_fields(tessera.FieldFile(a), tessera.FieldFile(b), "velocity:x")
                # Only inside of the finest level do values differ: eight fine centres against two coarse ones.
                fine = (np.arange(24, 32) + 0.5) / 64
                apart = np.abs(fine - (np.floor(fine * 16) + 0.5) / 16)
                self.assertAlmostEqual(found.norms["max"], apart.max())
                self.assertAlmostEqual(found.norms["l1"], apart.mean() * (0.125 * 0.25 * 0.25) / 4.0)

    def test_codes_and_tolerances(self):
        run = runs.gaussian()
        files = run.fields.paths
        self.assertEqual(runs.call("compare", "--norms", run.path, run.path)[0], 0)
        code, said, _ = runs.call("compare", "--norms", files[0], files[-1])
        self.assertEqual(code, 1)
        self.assertIn("different", said)
        rows = json.loads(runs.call("compare", "--json", files[0], files[-1])[1])
        enough = str(rows[0]["max"] * 1.001)
        self.assertEqual(runs.call("compare", "--tolerance", enough, files[0], files[-1])[0], 0)
        self.assertEqual(runs.call("compare", "--tolerance", "inf", files[0], files[-1])[0], 0)
        self.assertEqual(runs.call("compare", "--tolerance", f"concentration={enough}", files[0], files[-1])[0], 0)
        self.assertEqual(runs.call("compare", "--tolerance", f"concentration={enough}", "--tolerance", "0", files[0], files[-1])[0], 0)
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "d.png"
            runs.call("compare", "--norms", files[0], files[-1], "--picture", picture)
            self.assertEqual(picture.read_bytes()[:4], b"\x89PNG")

    def test_mistakes_are_sentences(self):
        path = runs.gaussian().path
        for arguments, code, said in ((["--tolerance", "concentratio=1"], 2, "did you mean 'concentration'"),
                                      (["--tolerance", "-1"], 2, ""), (["--field", "x"], 2, "has no field 'x'")):
            got, _, error = runs.call("compare", path, path, *arguments)
            self.assertEqual(got, code)
            self.assertIn(said, error)
        code, _, error = runs.call("compare", "--norms", path, runs.slab().path, "--field", "concentration")
        self.assertEqual(code, 2)
        code, _, error = runs.call("compare", "--norms", runs.cosine().path, runs.slab().path)
        self.assertEqual(code, 2)
        self.assertIn("different meshes", error)
        # Without a field that both have there is nothing to draw.
        code, _, error = runs.call("compare", path, runs.slab().path, "--picture", "never.png")
        self.assertEqual(code, 2)
        self.assertIn("no field of one name", error)


class ConvergenceTest(unittest.TestCase):
    def test_the_orders_of_the_heat_equation_are_two(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["convergence", runs.INPUTS / "heat/dirichlet_slab.toml", "--cells", "16,32,64", "--out", folder,
                         "--set", "time.end=0.125", "--json"]
            code, said, error = runs.call(*arguments)
            self.assertEqual(code, 0, error)
            rows = json.loads(said)
            self.assertEqual([row["cells"] for row in rows], [16, 32, 64])
            for row in rows[1:]:
                self.assertAlmostEqual(row["order of l2"], 2.0, delta=0.15)
            self.assertIsNone(rows[0]["order of l2"])
            self.assertTrue((Path(folder) / "convergence.png").is_file())
            # What is there is not run again.
            stamp = (Path(folder) / "cells_64/0000/result.json").stat().st_mtime_ns
            self.assertEqual(json.loads(runs.call(*arguments)[1]), rows)
            self.assertEqual((Path(folder) / "cells_64/0000/result.json").stat().st_mtime_ns, stamp)

    def test_errors_of_nothing_are_drawn_too(self):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("error")
            rows = [{"cells": n, "a.error_l1": 0.0, "order of l1": None} for n in (8, 16)]
            convergence_command.draw(rows, Path(folder) / "a.png", "exact", {})
            self.assertEqual((Path(folder) / "a.png").read_bytes()[:4], b"\x89PNG")

    def test_errors_have_their_unit_on_the_axis(self):
        rows = [{"cells": n, "a.error_l1": 1 / n, "order of l1": None} for n in (8, 16)]
        with mock.patch("tessera.plots.style.save") as save:
            convergence_command.draw(rows, "a.png", "title", {"a.error_l1": "K m^3"})
        self.assertEqual(save.call_args.args[0].axes[0].get_ylabel(), "error (K m³)")

    def test_each_of_several_errors_has_its_order(self):
        with tempfile.TemporaryDirectory() as folder:
            code, said, error = runs.call("convergence", runs.INPUTS / "lowmach/taylor_green.toml", "--cells", "8,16", "--out", folder,
                                          "--set", "time.end=0.05", "--set", "grid.patches=[1, 1, 1]", "--json")
            self.assertEqual(code, 0, error)
            last = json.loads(said)[-1]
            for name in ("velocity_x", "velocity_y"):
                error = [row[f"lowmach.{name}.error_l2"] for row in json.loads(said)]
                self.assertAlmostEqual(last[f"order of {name} l2"], np.log2(error[0] / error[1]), delta=1e-12)
                self.assertGreater(last[f"order of {name} l2"], 1.5)

    def test_mistakes_are_sentences(self):
        deck = runs.INPUTS / "heat/dirichlet_slab.toml"
        for arguments, code, said in (([deck, "--cells", "32,16"], 2, "numbers that grow"), ([deck, "--cells", "a,b"], 2, "'a'"),
                                      ([runs.INPUTS / "wave/pulse.toml", "--cells", "32,64"], 2, "no exact solution"),
                                      ([deck, "--cells", "16,32", "--dt", "h"], 2, "the deck gives none"),
                                      (["nowhere.toml", "--cells", "16,32"], 3, "nowhere.toml cannot be read"),
                                      ([runs.INPUTS / "heat/variable_conductivity.toml", "--cells", "30,60"], 2, "in proportion")):
            got, _, error = runs.call("convergence", *arguments)
            self.assertEqual(got, code, error)
            self.assertIn(said, error)


if __name__ == "__main__":
    unittest.main()
