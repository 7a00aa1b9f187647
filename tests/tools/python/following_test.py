"""Runs whose mesh follows the solution: every tool on states whose patches and levels differ. And units, which decks name."""
import json
import tempfile
import unittest
from pathlib import Path

import export_test
import numpy as np
import runs
import tessera
from tessera import plots, report
from tessera.yt_loader import stream_arguments
from yt_contract_test import check

ANALYSIS = """
[[analysis.region]]
name = "all"
field = "concentration"
[[analysis.probe]]
name = "p"
field = "concentration"
at = [0.6, 0.52, 0.5]
[[analysis.line]]
name = "row"
field = "concentration"
from = [0, 0.5, 0.5]
to = [1, 0.5, 0.5]
points = 5
[[analysis.profile]]
name = "rings"
field = "concentration"
centre = [0.6, 0.525, 0.5]
radius = 0.3
bins = 3
[[analysis.statistics]]
name = "s"
field = "concentration"
[[analysis.plane]]
name = "cut"
fields = ["concentration"]
axis = "y"
at = 0.5
every_steps = 36
"""


class FollowingTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def call(self, *arguments):
        code, said, error = runs.call(*arguments)
        self.assertEqual(code, 0, error)
        return said

    def test_the_states_do_have_other_meshes(self):
        bump, spot = runs.bump(), runs.spot()
        boxes = {tuple(tuple(p.lo) for p in file.levels[-1].patches) for file in bump.fields}
        self.assertEqual(len(boxes), len(bump.fields))
        self.assertGreater(len(spot.fields[0].levels), len(spot.fields[-1].levels))

    def test_one_array_over_all_states(self):
        for run, name, total in ((runs.bump(), "concentration", "advection.total"), (runs.spot(), "temperature", "heat.total")):
            times, values = run.fields.covering_grids(name)
            finest = max(run.fields, key=lambda file: len(file.levels))
            lo, hi = finest.domain(len(finest.levels) - 1)
            self.assertEqual(values.shape, (len(run.fields), *(hi - lo + 1)))
            self.assertEqual(list(times), run.fields.times)
            rows = np.searchsorted(run.history["time"], times)
            np.testing.assert_allclose(values.mean(axis=(1, 2, 3)), run.history[total][rows], rtol=1e-12)

    def test_pictures_of_all_times(self):
        bump, spot = runs.bump(), runs.spot()
        for run, *words in ((spot, "--levels", "--patches", "--time", "all", "--same-range"), (bump, "--line", "x", "--time", "all"),
                            (spot, "--three"), (bump, "--watch")):
            self.call("plot", run.path, *words, "-o", self.path / "a.png")
        self.call("plot", spot.path, "--levels", "-o", self.path / "a.html")
        self.assertEqual((self.path / "a.html").read_text().count("step "), len(spot.fields))
        # Bands of a line tell which time they are of.
        figure = plots.line_figure(runs.bump().fields[:], "concentration", (0, 0.45, 0.5), (1, 0.45, 0.5))
        texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        self.assertEqual([text for text in texts if "levels" in text], ["finer levels at t = 0.25"])

    def test_a_plotfile_of_each_state_has_its_grids(self):
        bump = runs.bump()
        for number, file in enumerate(bump.fields):
            out = self.path / f"plt{number}"
            self.call("export", bump.path, "--format", "plotfile", "--time", f"step:{file.step}", "-o", out)
            export_test.ExportTest.check_plotfile(self, export_test.Plotfile(out), file, [2, 2])

    def test_a_level_that_is_not_there_at_all_times_is_told_before_anything_is_written(self):
        spot = runs.spot()
        code, said, error = runs.call("export", spot.path, "--format", "npz", "--level", "1", "--time", "all")
        self.assertEqual((code, said), (2, ""))
        self.assertIn(f"there is no level 1 at step {spot.fields[1].step}, where the finest is 0", error)

    def test_yt_gets_the_grids_of_each_state(self):
        for run in (runs.bump(), runs.spot()):
            for file in run.fields:
                check(self, file, *stream_arguments(file))

    def test_runs_of_other_meshes_are_compared(self):
        bump = runs.bump()
        other = tessera.run(runs.INPUTS / "advection/bump_following.toml", self.path / "other", 1, ["--threads", "1"], timeout=120,
                            **{"amr.interval": 7})
        self.assertNotEqual([p.lo.tolist() for p in bump.fields[-1].levels[-1].patches],
                            [p.lo.tolist() for p in other.fields[-1].levels[-1].patches])
        code, said, error = runs.call("compare", bump.path, other.path, "--norms", "--json", "--picture", self.path / "d.png")
        self.assertEqual(code, 1, error)
        self.assertLess(json.loads(said)[0]["max"], 0.02)
        self.call("compare", bump.path, other.path, "--norms", "--tolerance", "0.02")
        self.call("report", bump.path, other.path, "-o", self.path / "two.html")
        self.assertIn("minus that of the first", (self.path / "two.html").read_text())

    def test_numbers_over_time(self):
        bump = runs.bump()
        rows = json.loads(self.call("extract", bump.path, "--box", "0,0,0:1,1,1", "--time", "all", "--json"))
        np.testing.assert_allclose([row["integral"] for row in rows], bump.history["advection.total"][0], rtol=1e-13)
        state = json.loads(self.call("top", bump.path, "--json"))
        self.assertEqual(state["cells_by_level"], [level.cells for level in bump.fields[-1].levels])
        self.assertIn(" + ".join(str(n) for n in state["cells_by_level"]).replace("1872", "1\u202f872"),
                      self.call("top", bump.path, "--once"))

    def test_analysis_of_cells_that_come_and_go(self):
        deck = self.path / "deck.toml"
        text = (runs.INPUTS / "advection/bump_following.toml").read_text()
        deck.write_text(text.replace('fields = ["concentration"]', 'fields = ["concentration", "s.mean"]') + ANALYSIS)
        runs_of = {name: tessera.run(deck, self.path / name, ranks, ["--threads", "1"], timeout=120, **values) for name, ranks, values in
                   (("csv", 1, {}), ("hdf", 2, {"analysis.format": "hdf5"}))}
        run, other = runs_of["csv"], runs_of["hdf"]
        last, row = run.fields[-1], run.history
        self.assertEqual(row.last("all.integral"), row.last("advection.total"))
        self.assertEqual(row.last("p"), last.points("concentration", [(0.6, 0.52, 0.5)])[0])
        expected = last.points("concentration", [(n / 4, 0.5, 0.5) for n in range(5)])
        self.assertEqual([row.last(f"row.{n:03d}") for n in range(5)], list(expected))
        self.assertGreater(row.last("rings.000"), row.last("rings.001"))
        # What was there is kept, wherever levels come and go.
        self.assertAlmostEqual(last.integral("s.mean"), row["advection.total"][0], delta=1e-14)
        for plane in run.planes["cut"]:
            whole = run.fields.step(plane.step).slice("concentration", "y", 0.5, len(plane.levels) - 1)
            np.testing.assert_array_equal(plane.slice("concentration", "y").values, whole.values)
        # The same numbers by the same names in the other format.
        self.assertEqual(sorted(other.history.names), sorted(row.names))
        for name in row.names:
            np.testing.assert_array_equal(other.history[name], row[name], err_msg=name)
        self.assertEqual(other.analysis["row"].shape, (len(row), 5))

    def test_units_of_the_deck_are_in_files_and_labels(self):
        file = runs.spot().fields[-1]
        self.assertEqual((file.length_unit, file.time_unit, file.field("temperature").unit), ("m", "s", "K"))
        figure = plots.slice_figure([file], "temperature")
        self.assertEqual((figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()), ("x (m)", "y (m)"))
        self.assertIn(f"t = {file.time:.6g} s, step", figure.axes[0].get_title())
        self.assertIn("temperature (K)", [axes.get_ylabel() for axes in figure.axes])
        figure = plots.line_figure([file], "=dx(temperature)", (0, 0.5, 0.5), (1, 0.5, 0.5))
        self.assertEqual(figure.axes[0].get_xlabel(), "x (m)")
        page = report.report_data(runs.spot())
        self.assertEqual(page.data["charts"]["history-heat.max"]["x_name"], "time (s)")
        text = self.call("top", runs.spot().path, "--once")
        self.assertIn(f"t = {file.time:.6g} s", text)
        # Columns of the history have units too: of an integral over volumes as a product.
        history = runs.spot().history
        self.assertEqual([history.unit(name) for name in ("step", "time", "heat.total", "heat.max", "mesh.cells_level_0")],
                         ["1", "s", "K m^3", "K", "1"])
        figure = plots.history_figure({"spot": history}, ["heat.max", "heat.total", "mesh.cells_level_0"])
        self.assertEqual([axes.get_title("right").partition(" (")[2] for axes in figure.axes[:3]], ["K)", "K m³)", ""])
        self.assertRegex(page.data["charts"]["history-heat.max"]["title"], r"heat\.max.* \(K\)")
        self.assertIn("heat.max</td><td", dict((name, body) for name, _, body in page.sections)["overview"])
        self.assertIn("<td>K m³</td>", dict((name, body) for name, _, body in page.sections)["overview"])
        self.assertRegex(text, r"heat\.total +\S+ +\S+ +\S+ \.\. \S+ K m³")
        # Numbers alone have none.
        self.assertRegex(text, r"(?m)mesh\.cells_level_0 .* \.\. 576$")
        self.assertRegex(dict((name, body) for name, _, body in page.sections)["overview"],
                         r"mesh\.cells_level_0</td><td[^>]*>576</td><td></td>")
        # Units are names: the same is computed.
        plain = tessera.run(runs.INPUTS / "heat/spot_following.toml", self.path / "plain", 1, ["--threads", "1"], timeout=120,
                            **{"time.max_steps": 1})
        self.assertEqual(plain.fields[-1].run_id, file.run_id)
        # Without [units] the words of the program.
        file = runs.bump().fields[-1]
        self.assertEqual((file.length_unit, file.time_unit, file.field("concentration").unit),
                         ("length", "time", "amount/length^3"))


if __name__ == "__main__":
    unittest.main()
