"""[analysis] of variables on faces, against the field files of the same runs: nothing counts twice, whatever levels meet."""
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
import runs
import tessera
from tessera.program import find_program

FACES = """
[[analysis.region]]
name = "all"
field = "velocity_x"
[[analysis.region]]
name = "part"
field = "velocity_y"
lower = [0.2, 0.2, 0]
upper = [0.6, 0.71, 1]
[[analysis.region]]
name = "cut"
field = "velocity_x"
lower = [0.25, 0.5, 0]
upper = [0.25, 1, 1]
[[analysis.region]]
name = "inflow"
field = "velocity_x"
lower = [0, 0, 0]
upper = [0, 1, 1]
[[analysis.probe]]
name = "middle"
field = "velocity_x"
at = [0.51, 0.3, 0.5]
[[analysis.line]]
name = "row"
field = "velocity_y"
from = [0, 0.4, 0.5]
to = [1, 0.4, 0.5]
points = 4
[[analysis.profile]]
name = "rings"
field = "velocity_x"
centre = [0.5, 0.5, 0.5]
radius = 0.6
bins = 3
[[analysis.statistics]]
name = "u"
field = "velocity_x"
with = "velocity_y"
[[analysis.plane]]
name = "side"
fields = ["velocity_x", "velocity_y", "pressure"]
axis = "y"
at = 0.4
every_steps = 1000
"""
FLAT = '[[analysis.region]]\nname = "{}"\nfield = "{}"\nlower = [{}, 0, 0]\nupper = [{}, 1, 1]\n'


class FaceAnalysisTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_deck(self, base, text, name, ranks=1, **values):
        deck = self.path / f"{name}.toml"
        deck.write_text((runs.INPUTS / base).read_text().replace("every = 0.25", "every_steps = 1") + text)
        return tessera.run(deck, self.path / name, ranks, ["--threads", "1"], timeout=120, **values)

    def vortices(self, name, ranks=1, **more):
        values = {"grid.cells": [16, 16, 1], "time.max_steps": 6, "history.every_steps": 1,
                  "output.fields": ["velocity_x", "velocity_y", "pressure", "u.mean", "u.mean_with"], **more}
        return self.run_deck("lowmach/taylor_green.toml", FACES, name, ranks, **values)

    def test_columns_are_what_the_faces_of_the_file_say(self):
        run = self.vortices("run")
        fields, row = run.fields[-1], run.history
        faces = {name: [p.faces(name) for p in fields.levels[0].patches] for name in ("velocity_x", "velocity_y")}
        self.assertAlmostEqual(row.last("all.integral"), fields.integral("velocity_x"), delta=1e-15)
        self.assertAlmostEqual(row.last("all.mean"), fields.integral("velocity_x"), delta=1e-15)
        self.assertEqual(row.last("all.min"), min(float(f.min()) for f in faces["velocity_x"]))
        self.assertEqual(row.last("all.max"), max(float(f.max()) for f in faces["velocity_x"]))
        part = fields.covering_grid("velocity_y", None, (0.1875, 0.1875, 0), (0.625, 0.6875, 1)).values
        self.assertAlmostEqual(row.last("part.mean"), part.mean(), delta=1e-15)
        # Flat along the normal: the faces there, by their areas.
        left, upper = [p for p in fields.levels[0].patches if p.lo[0] == 0 and p.lo[1] == 8], 4
        there = np.concatenate([p.faces("velocity_x")[upper].ravel() for p in left])
        self.assertEqual(there.size, 8)
        self.assertAlmostEqual(row.last("cut.integral"), there.sum() / 16, delta=1e-15)
        self.assertAlmostEqual(row.last("cut.mean"), there.mean(), delta=1e-15)
        self.assertEqual((row.last("cut.min"), row.last("cut.max")), (there.min(), there.max()))
        inflow = np.concatenate([p.faces("velocity_x")[0].ravel() for p in fields.levels[0].patches if p.lo[0] == 0])
        self.assertAlmostEqual(row.last("inflow.integral"), inflow.mean(), delta=1e-15)
        self.assertEqual(row.last("middle"), fields.points("velocity_x", [(0.51, 0.3, 0.5)])[0])
        for n in range(4):
            self.assertEqual(row.last(f"row.{n:03d}"), fields.points("velocity_y", [(n / 3, 0.4, 0.5)])[0])
        x, y = np.meshgrid((np.arange(16) + 0.5) / 16 - 0.5, (np.arange(16) + 0.5) / 16 - 0.5, indexing="ij")
        inner = np.hypot(x, y) < 0.2
        self.assertAlmostEqual(row.last("rings.000"), fields.covering_grid("velocity_x").values[..., 0][inner].mean(), delta=1e-15)

    def test_statistics_and_planes_have_the_means_of_cells(self):
        run = self.vortices("run", **{"time.max_steps": 2})
        first, second, last = run.fields[0], run.fields[1], run.fields[2]
        steps = second.dt, last.dt
        for field, name in (("velocity_x", "u.mean"), ("velocity_y", "u.mean_with")):
            mean = sum(file.covering_grid(field).values * dt for file, dt in zip((first, second), steps)) / sum(steps)
            np.testing.assert_allclose(last.covering_grid(name).values, mean, rtol=1e-14, atol=1e-15)
        plane = run.planes["side"][-1]
        for name in plane.names:
            np.testing.assert_array_equal(plane.slice(name, "y").values, last.slice(name, "y", 0.4).values)
        self.assertEqual([f.centering for f in plane.fields], ["face x", "face y", "cell"])
        self.assertEqual(plane.levels[0].patches[0].faces("velocity_x").shape, (9, 1, 1))
        self.assertEqual(plane.levels[0].patches[0].faces("velocity_y").shape, (8, 2, 1))

    def test_the_bits_are_those_of_any_layout(self):
        histories = {(self.vortices(name, ranks, **{"grid.patches": patches}).path / "history.csv").read_text()
                     for name, ranks, patches in (("a", 1, [1, 1, 1]), ("b", 1, [4, 2, 1]), ("c", 2, [2, 4, 1]))}
        self.assertEqual(len(histories), 1)

    def test_what_flows_through_sections_of_a_channel_is_the_same(self):
        text = "".join(FLAT.format(f"at{n}", "velocity_x", x, x) for n, x in enumerate((0.0, 1.0, 3.0)))
        row = self.run_deck("lowmach/channel.toml", text, "run", **{"time.max_steps": 4}).history
        self.assertAlmostEqual(row.last("at1.integral"), row.last("at0.integral"), delta=1e-7)
        self.assertAlmostEqual(row.last("at2.integral"), row.last("at0.integral"), delta=1e-7)
        self.assertGreater(row.last("at0.integral"), 0.01)

    def test_a_flat_box_beside_the_faces_is_refused_with_the_next_ones(self):
        for field, x, said in (("velocity_x", 0.26, 'the box of the analysis "p" is flat along x where there are no faces; put it at'
                                                    " x = 0.25 or 0.28125"),
                               ("velocity_x", 1.5, "put it at x = 0.96875 or 1"),
                               ("velocity_y", 0.25, "holds no centre of a cell along x"),
                               ("pressure", 0.25, "holds no centre of a cell along x")):
            deck = self.path / "deck.toml"
            deck.write_text((runs.INPUTS / "lowmach/taylor_green.toml").read_text() + FLAT.format("p", field, x, x))
            done = subprocess.run([find_program(), "check", deck], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(said, " ".join((done.stdout + done.stderr).split()))


if __name__ == "__main__":
    unittest.main()
