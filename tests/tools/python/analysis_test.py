"""[analysis] of decks: columns, statistics and limits of runs, against the field files of the same runs."""
import json
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np
import runs
import tessera
from tessera.program import find_program

GAUSSIAN = """
[[analysis.region]]
name = "corner"
field = "concentration"
lower = [0.2, 0.2, 0]
upper = [0.6, 0.71, 1]
[[analysis.region]]
name = "all"
field = "concentration"
quantities = ["mean", "integral"]
[[analysis.probe]]
name = "middle"
field = "concentration"
at = [0.5, 0.5, 0.5]
[[analysis.line]]
name = "diagonal"
field = "concentration"
from = [0, 0, 0]
to = [1, 1, 0]
points = 5
[[analysis.profile]]
name = "around"
field = "concentration"
centre = [0.5, 0.5, 0]
radius = 0.5
bins = 20
"""


class AnalysisTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def deck(self, base, text, name="deck.toml"):
        path = self.path / name
        path.write_text((runs.INPUTS / base).read_text() + text)
        return path

    def run_deck(self, deck, name, ranks=1, **values):
        return tessera.run(deck, self.path / name, ranks, ["--threads", "1"], timeout=120, **values)

    def small(self, **more):
        return {"grid.cells": [32, 32, 1], "grid.patches": [2, 2, 1], "time.end": 0.125, "output.every": 0.125,
                "history.every_steps": 1000, **more}

    def test_columns_are_what_the_fields_say(self):
        run = self.run_deck(self.deck("advection/gaussian.toml", GAUSSIAN), "run", **self.small())
        fields, row = run.fields[-1], run.history
        values, volumes, centres = [], [], []
        for patch, mask, array in fields.leaves("concentration"):
            x, y = np.meshgrid(patch.centres(0), patch.centres(1), indexing="ij")
            centres.append(np.stack([x, y], axis=2)[mask[..., 0]])
            values.append(array[mask])
            volumes.append(np.full(mask.sum(), np.prod(patch.level.spacing)))
        values, volumes, centres = map(np.concatenate, (values, volumes, centres))
        inside = (centres >= [0.2, 0.2]).all(axis=1) & (centres < [0.6, 0.71]).all(axis=1)
        integral = float(np.sum(values[inside] * volumes[inside]))
        self.assertAlmostEqual(row.last("corner.integral"), integral, delta=1e-15)
        self.assertAlmostEqual(row.last("corner.mean"), integral / volumes[inside].sum(), delta=1e-14)
        self.assertEqual(row.last("corner.min"), values[inside].min())
        self.assertEqual(row.last("corner.max"), values[inside].max())
        self.assertEqual(row.last("all.integral"), row.last("advection.total"))
        self.assertNotIn("all.min", row)
        self.assertEqual(row.last("middle"), fields.points("concentration", [(0.5, 0.5, 0.5)])[0])
        for n in range(5):
            at = n / 4
            self.assertEqual(row.last(f"diagonal.{n:03d}"), fields.points("concentration", [(at, at, 0.5)])[0])
        shells = np.floor(np.hypot(*(centres - 0.5).T) / (0.5 / 20)).astype(int)
        for n in range(20):
            expected = values[shells == n].mean() if (shells == n).any() else np.nan
            np.testing.assert_allclose(row.last(f"around.{n:03d}"), expected, rtol=1e-13)

    def test_the_bits_are_those_of_any_layout(self):
        deck = self.deck("advection/gaussian.toml", GAUSSIAN + '[[analysis.statistics]]\nname = "s"\nfield = "concentration"\n')
        histories, fields = set(), []
        for name, ranks, patches in (("a", 1, [1, 1, 1]), ("b", 1, [5, 3, 1]), ("c", 3, [4, 4, 1])):
            run = self.run_deck(deck, name, ranks, **self.small(**{"grid.patches": patches, "history.every_steps": 3,
                                                                  "output.fields": ["s.mean", "s.variance"]}))
            histories.add((run.path / "history.csv").read_text())
            fields.append(run.fields[-1].covering_grid("s.variance").values)
        self.assertEqual(len(histories), 1)
        for other in fields[1:]:
            np.testing.assert_array_equal(other, fields[0])

    def test_refined_levels_count_once(self):
        text = ('[[analysis.region]]\nname = "all"\nfield = "levels.stamp"\n[[analysis.probe]]\nname = "fine"\n'
                'field = "levels.stamp"\nat = [0.5, 0.5, 0.5]\n[[analysis.probe]]\nname = "coarse"\nfield = "levels.stamp"\n'
                'at = [0.05, 0.9, 0.5]\n')
        run = self.run_deck(self.deck("levels/three_level.toml", text), "run")
        fields = run.fields[-1]
        self.assertAlmostEqual(run.history.last("all.integral") / fields.integral("levels.stamp"), 1.0, delta=1e-14)
        self.assertAlmostEqual(run.history.last("all.mean") / fields.integral("levels.stamp"), 1.0, delta=1e-14)  # volume 1
        places = [(0.5, 0.5, 0.5), (0.05, 0.9, 0.5)]
        self.assertEqual([run.history.last("fine"), run.history.last("coarse")], list(fields.points("levels.stamp", places)))
        self.assertGreater(run.history.last("fine"), 2e8)

    def test_components_of_a_variable_are_looked_at_one_by_one(self):
        text = ('[[analysis.region]]\nname = "mass"\nfield = "gas.density"\n[[analysis.region]]\nname = "energy"\n'
                'field = "gas.energy"\nquantities = ["integral"]\n[[analysis.probe]]\nname = "carried"\nfield = "gas.momentum_y"\n'
                'at = [1.1, -0.4, 0.5]\n[[analysis.line]]\nname = "row"\nfield = "gas.energy"\nfrom = [-5, 0, 0]\nto = [5, 0, 0]\n'
                'points = 9\n[[analysis.profile]]\nname = "rings"\nfield = "gas.density"\ncentre = [0, 0, 0]\nradius = 5\nbins = 4\n'
                '[[analysis.statistics]]\nname = "s"\nfield = "gas.density"\n[[analysis.statistics]]\nname = "c"\n'
                'field = "gas.momentum_x"\nwith = "gas.momentum_y"\n')
        deck = self.deck("euler/vortex_two_level.toml", text)
        values = {"time.end": 0.25, "output.every": 0.25, "history.every_steps": 4, "output.fields": ["gas", "s.mean", "c.mean_with"]}
        run = self.run_deck(deck, "run", **values)
        fields, row = run.fields[-1], run.history
        self.assertEqual(row.last("mass.integral"), row.last("euler.mass"))
        self.assertEqual(row.last("energy.integral"), row.last("euler.energy"))
        # Field files are of single precision here, and points are of the finest level.
        self.assertAlmostEqual(row.last("carried"), fields.points("gas.momentum_y", [(1.1, -0.4, 0.5)])[0], delta=1e-6)
        self.assertAlmostEqual(row.last("mass.min"), fields.extremes("gas.density")[0], delta=1e-6)
        for n, x in enumerate(np.linspace(-5, 5, 9)):
            self.assertAlmostEqual(row.last(f"row.{n:03d}"), fields.points("gas.energy", [(x, 0, 0.5)])[0], delta=1e-5)
        self.assertLess(row.last("rings.000"), row.last("rings.003"))
        self.assertLess(abs(fields.norms("s.mean")["max"] - 1.0), 0.01)
        self.assertGreater(fields.norms("c.mean_with")["max"], 1.0)
        again = self.run_deck(deck, "again", 2, **values, **{"grid.patch_size": [8, 8, 1]})
        self.assertEqual((run.path / "history.csv").read_text(), (again.path / "history.csv").read_text())
        np.testing.assert_array_equal(fields.covering_grid("c.mean_with").values,
                                      again.fields[-1].covering_grid("c.mean_with").values)

    def test_statistics_are_those_of_the_states(self):
        # T = 1 + t exactly: a uniform field with source 1, and steps of a power of two.
        text = ('[[analysis.statistics]]\nname = "s"\nfield = "temperature"\n[[analysis.statistics]]\nname = "late"\n'
                'field = "temperature"\nfrom = 0.0009765625\n[[analysis.statistics]]\nname = "c"\nfield = "temperature"\n'
                'with = "temperature"\n')
        deck = self.deck("heat/eigenmode_2d.toml", text)
        dt, steps = 2.0**-12, 16
        values = {"heat.initial": "1", "heat.source": 1.0, "heat.exact": "1 + t", "time.dt": dt, "time.max_steps": steps,
                  "output.fields": ["s.mean", "s.variance", "late.mean", "c.covariance", "c.mean_with"]}
        fields = self.run_deck(deck, "run", **values).fields[-1]
        states = 1.0 + dt * np.arange(steps)
        for name, expected in (("s.mean", states.mean()), ("s.variance", states.var()), ("late.mean", states[4:].mean()),
                               ("c.covariance", states.var()), ("c.mean_with", states.mean())):
            low, high = fields.extremes(name)
            self.assertAlmostEqual(low, expected, delta=1e-15 if "mean" in name else 1e-18, msg=name)
            self.assertEqual(low, high)

    def test_statistics_go_on_after_a_restart(self):
        deck = self.deck("advection/gaussian.toml", '[[analysis.statistics]]\nname = "s"\nfield = "concentration"\n')
        whole = self.run_deck(deck, "whole", **self.small())
        half = self.run_deck(deck, "half", **self.small(**{"time.max_steps": 7}))
        subprocess.run([find_program(), "restart", half.path, "--threads", "1", "--set", "time.max_steps=1000000"], check=True,
                       capture_output=True)
        done = subprocess.run([find_program(), "compare", "--exact", whole.path, half.path], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_limit_ends_the_run_at_the_same_step_for_any_ranks(self):
        text = '[[analysis.region]]\nname = "hot"\nfield = "concentration"\nquantities = ["max"]\nstop_if_below = 0.97\n'
        deck = self.deck("advection/gaussian.toml", text)
        ends = set()
        for name, ranks in (("one", 1), ("three", 3)):
            run = self.run_deck(deck, name, ranks, **self.small(**{"history.every_steps": 2, "time.end": 1.0}))
            self.assertEqual((run.result["status"], run.result["exit_code"]), ("done", 0))
            self.assertIn("hot.max = ", run.result["reason"])
            self.assertIn("is below stop_if_below = 0.97", run.result["reason"])
            self.assertLess(run.history.last("hot.max"), 0.97)
            self.assertGreaterEqual(run.history["hot.max"][-2], 0.97)
            self.assertEqual(run.checkpoints[-1].step, run.result["step"])
            self.assertEqual(run.fields[-1].step, run.result["step"])
            ends.add(run.result["step"])
        self.assertEqual(len(ends), 1)
        self.assertEqual(ends.pop() % 2, 0)
        # With another limit, in the deck of the run folder, the run goes on.
        deck = run.path / "deck.toml"
        deck.write_text(deck.read_text().replace("stop_if_below = 0.97", "stop_if_below = 0.1"))
        before = run.result["step"]
        done = subprocess.run([find_program(), "restart", run.path, "--threads", "1", "--set", f"time.max_steps={before + 3}"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(tessera.load(run.path).result["step"], before + 3)

    def test_what_is_watched_is_on_the_screen(self):
        deck = self.deck("heat/dirichlet_slab.toml", "")
        text = deck.read_text().replace("every_steps = 50", 'every_steps = 50\nwatch = ["heat.max"]')
        deck.write_text(text.replace("end = 0.5", "end = 1e9").replace("every = 0.125", "every_steps = 1000000"))
        process = subprocess.Popen([find_program(), "run", "--threads", "1", "--out", self.path / "run", deck],
                                   stdout=subprocess.PIPE, text=True)
        lines = [process.stdout.readline() for _ in range(2)]
        (self.path / "run/stop").touch()
        rest = process.communicate(timeout=60)[0]
        self.assertRegex("".join(lines) + rest, r"step \d+ .* \| heat\.max \S+ \(\S+ \.\. \S+\)\n")

    def test_mistakes_are_found_by_the_check(self):
        region = '[[analysis.region]]\nname = "{}"\nfield = "{}"\n{}\n'
        for text, said in (
                (region.format("a", "concentratio", ""), "did you mean 'concentration'?"),
                (region.format("a b", "concentration", ""), "is not a valid name for an analysis"),
                (region.format("a", "concentration", "") * 2, 'two analyses are named "a"'),
                (region.format("a", "concentration", 'quantities = ["men"]'), 'there is no quantity "men"'),
                (region.format("a", "concentration", "lower = [0.5, 0, 0]\nupper = [0.5, 1, 1]"), "holds no centre of a cell along x"),
                (region.format("a", "concentration", 'quantities = ["mean"]\nstop_if_above = 1'), 'stop_on is "max"'),
                ('[[analysis.probe]]\nname = "p"\nfield = "concentration.x"\nat = [0, 0, 0]\n', "did you mean 'concentration'?"),
                ('[[analysis.probe]]\nname = "p"\nfield = "concentration"\nat = [2, 0, 0]\n', "outside of the domain along x"),
                ('[[analysis.line]]\nname = "p"\nfield = "concentration"\nfrom = [0, 0, 0]\nto = [1, 1, 1]\npoints = 1\n', "points"),
                ('[[analysis.profile]]\nname = "p"\nfield = "concentration"\ncentre = [0, 0, 0]\nbins = 4\n', "radius"),
                ('[[analysis.statistics]]\nname = "p"\nfield = "concentration"\nwith = "x"\n', 'the variable "x"'),
                ('[[analysis.plane]]\nname = "p"\nfields = ["concentration"]\naxis = "y"\nat = 3\nevery_steps = 1\n',
                 "lies outside of the domain along y"),
                ('[[analysis.plane]]\nname = "p"\nfields = ["cncentration"]\naxis = "y"\nat = 0\nevery_steps = 1\n',
                 "did you mean 'concentration'?"),
                ('[analysis]\nformat = "hdf"\n', "did you mean"),
                ('[history]\nwatch = ["advection.mx"]\n', "did you mean 'advection.max'?")):
            with self.subTest(text=text):
                deck = self.deck("advection/gaussian.toml", text)
                done = subprocess.run([find_program(), "check", deck], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(said, done.stdout + done.stderr)


    def test_planes_hold_the_cells_of_the_fields_that_they_cut(self):
        text = "".join(f'[[analysis.plane]]\nname = "{name}"\nfields = ["levels.stamp"]\naxis = "{axis}"\nat = {at}\n'
                       f'every_steps = 2\n' for name, axis, at in (("fine", "z", 0.55), ("side", "x", 0.05), ("wall", "y", 1.0)))
        deck = self.deck("levels/two_level.toml", text)
        run = self.run_deck(deck, "run", **{"time.max_steps": 5, "output.every_steps": 1})
        self.assertEqual(sorted(run.planes), ["fine", "side", "wall"])
        for name, axis, at, levels in (("fine", "z", 0.55, 2), ("side", "x", 0.05, 1), ("wall", "y", 1.0, 1)):
            series = run.planes[name]
            self.assertEqual([file.step for file in series], [0, 2, 4, 5])
            for file in series:
                self.assertEqual(len(file.levels), levels)
                whole = run.fields.step(file.step)
                expected = whole.slice("levels.stamp", axis, at, levels - 1).values
                self.assertTrue(np.isfinite(expected).all())
                np.testing.assert_array_equal(file.slice("levels.stamp", axis).values, expected)
        code, said, error = runs.call("plot", run.path / "planes/fine.hdf.series", "--levels", "--time", "all", "-o", self.path / "a.png")
        self.assertEqual(code, 0, error)
        # The same bytes from two ranks; a restart that goes back leaves none of what it abandons.
        two = self.run_deck(deck, "two", 2, **{"time.max_steps": 3, "output.every_steps": 1})
        for name in ("fine_000002.hdf", "wall_000002.hdf"):
            self.assertEqual((run.path / "planes" / name).read_bytes(), (two.path / "planes" / name).read_bytes())
        subprocess.run([find_program(), "restart", two.path, "--threads", "1", "--set", "time.max_steps=4"], check=True,
                       capture_output=True)
        self.assertEqual([file.step for file in tessera.load(two.path).planes["fine"]], [0, 2, 4])
        self.assertFalse((two.path / "planes/fine_000003.hdf").exists())

    def test_a_plane_that_was_changed_or_lost_is_found_by_verify(self):
        text = '[[analysis.plane]]\nname = "cut"\nfields = ["concentration"]\naxis = "z"\nat = 0.5\nevery_steps = 4\n'
        run = self.run_deck(self.deck("advection/gaussian.toml", text), "run", **self.small(**{"time.max_steps": 4}))
        verify = [find_program(), "info", "--verify", run.path]
        done = subprocess.run(verify, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        last = run.path / "planes/cut_000004.hdf"
        whole = last.read_bytes()
        value = run.planes["cut"][-1].levels[0].patches[0].array("concentration")[:, 0, 0].tobytes()
        place = whole.index(value)
        last.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
        done = subprocess.run(verify, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("DAMAGED     planes/cut_000004.hdf: ", done.stdout)
        last.unlink()
        done = subprocess.run(verify, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("DAMAGED     planes/cut.hdf.series: it does not name the field files that are there", done.stdout)

        shutil.rmtree(run.path / "planes")
        done = subprocess.run([*verify, "--json"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3, done.stdout)
        found = json.loads(done.stdout)
        self.assertEqual((found["whole"], [one["what"] for one in found["damaged"]]), (False, ["planes/cut.hdf.series"]))

    def test_a_plane_has_components_of_variables(self):
        text = ('[[analysis.plane]]\nname = "p"\nfields = ["gas.density", "gas.energy"]\naxis = "y"\nat = 0.5\nevery_steps = 1000\n'
                '[[analysis.plane]]\nname = "all"\nfields = ["gas"]\naxis = "y"\nat = 0.5\nevery_steps = 1000\n')
        run = self.run_deck(self.deck("euler/sod.toml", text), "run", **{"time.end": 0.02})
        part, whole = run.planes["p"][-1], run.planes["all"][-1]
        self.assertEqual(part.names, ["gas.density", "gas.energy"])
        self.assertEqual(len(whole.names), 5)
        for name in part.names:
            np.testing.assert_array_equal(part.covering_grid(name).values, whole.covering_grid(name).values)
        self.assertGreater(np.ptp(part.covering_grid("gas.density").values), 0.5)
        for fields, said in (('"gas.density", "gas"', 'a plane names "gas" twice'), ('"gas.densty"', "did you mean 'gas.density'?")):
            text = f'[[analysis.plane]]\nname = "p"\nfields = [{fields}]\naxis = "x"\nat = 0.5\nevery_steps = 1\n'
            done = subprocess.run([find_program(), "check", self.deck("euler/sod.toml", text)], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(said, done.stdout + done.stderr)

    def test_numbers_go_into_hdf5_where_the_deck_says_so(self):
        deck = self.deck("advection/gaussian.toml", GAUSSIAN)
        values = self.small(**{"history.every_steps": 3})
        plain = self.run_deck(deck, "plain", **values)
        run = self.run_deck(deck, "run", **values, analysis__format="hdf5")
        self.assertEqual((run.path / "history.csv").read_text().splitlines()[0].split(",")[-1], "advection.error_max")
        rows = run.analysis
        self.assertEqual(sorted(rows.names), ["all", "around", "corner", "diagonal", "middle"])
        self.assertEqual([rows.kind(name) for name in ("corner", "middle", "diagonal", "around")], ["region", "probe", "line", "profile"])
        self.assertEqual((rows["diagonal"].shape, rows.field("diagonal")), ((len(plain.history), 5), "concentration"))
        np.testing.assert_array_equal(rows.places("diagonal")[:, 0], np.linspace(0, 1, 5))
        np.testing.assert_allclose(rows.edges("around"), np.linspace(0, 0.5, 21), rtol=1e-15)
        # The same bits as the columns of the history, and by the same names.
        self.assertEqual(sorted(run.history.names), sorted(plain.history.names))
        for name in plain.history.names:
            np.testing.assert_array_equal(run.history[name], plain.history[name], err_msg=name)
        again = self.run_deck(deck, "again", 2, **{**values, "grid.patches": [4, 3, 1]}, analysis__format="hdf5")
        self.assertEqual((run.path / "analysis.hdf").read_bytes(), (again.path / "analysis.hdf").read_bytes())

    def test_each_column_has_its_unit_beside_the_history(self):
        deck = self.deck("advection/gaussian.toml", GAUSSIAN)
        values = self.small(**{"time.max_steps": 2, "units.length": "cm", "units.time": "min", "units.amount": "mol"})
        right = {"step": "1", "time": "min", "dt": "min", "advection.total": "mol", "advection.error_l2": "mol/cm^3", "corner.integral": "mol",
                 "corner.mean": "mol/cm^3", "middle": "mol/cm^3", "diagonal.004": "mol/cm^3", "around.019": "mol/cm^3"}
        for kind in ("csv", "hdf5"):  # the same columns, wherever their numbers are
            run = self.run_deck(deck, kind, 2 if kind == "csv" else 1, **values, analysis__format=kind)
            units = json.loads((run.path / "history.json").read_text())["units"]
            self.assertEqual(sorted(units), sorted(run.history.names))
            self.assertEqual({name: run.history.unit(name) for name in right}, right)
            self.assertEqual(run.history.units, units)
            self.assertEqual(json.loads(runs.call("info", "--json", run.path)[1])["units"], units)
        self.assertEqual((self.path / "csv/history.json").read_bytes(), (run.path / "history.json").read_bytes())
        # Units are names, so a restart may change them; its sum changes with the file, and a restart without a step changes nothing.
        restart = [find_program(), "restart", run.path, "--threads", "1", "--set", 'units.time="h"']
        before = (run.path / "history.json").read_bytes()
        subprocess.run(restart, check=True, capture_output=True)
        self.assertEqual((run.path / "history.json").read_bytes(), before)
        subprocess.run([*restart, "--set", "time.max_steps=3"], check=True, capture_output=True)
        after = json.loads((run.path / "history.json").read_text())["units"]
        self.assertEqual(after, {**units, "time": "h", "dt": "h"})
        subprocess.run([find_program(), "info", "--verify", run.path], check=True, capture_output=True)
        # Without a history there is nothing that has units.
        none = self.run_deck(deck, "none", **values, history__every_steps=0)
        self.assertFalse((none.path / "history.json").exists())
        self.assertNotIn("history.json", (none.path / "sums.json").read_text())

    def test_a_restart_goes_on_with_the_rows(self):
        deck = self.deck("advection/gaussian.toml", GAUSSIAN)
        more = {"analysis.format": "hdf5", "history.every_steps": 3, "checkpoint.every_steps": 5}
        whole = self.run_deck(deck, "whole", **self.small(**more))
        half = self.run_deck(deck, "half", **self.small(**{**more, "time.max_steps": 8}))
        # From step 5: the rows of 6 and 8 belong to a future that is abandoned.
        subprocess.run([find_program(), "restart", half.path, "--from", "5", "--threads", "1", "--set", "time.max_steps=1000000"],
                       check=True, capture_output=True)
        compare = [find_program(), "compare", "--exact", whole.path, half.path]
        done = subprocess.run(compare, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual((whole.path / "analysis.hdf").read_bytes(), (half.path / "analysis.hdf").read_bytes())
        self.verify_finds_damage(half, compare)

    def verify_finds_damage(self, run, compare):
        verify = [find_program(), "info", "--verify", run.path]
        self.assertEqual(subprocess.run(verify, capture_output=True, check=False).returncode, 0)
        path = run.path / "analysis.hdf"
        whole = path.read_bytes()
        place = whole.rindex(run.analysis["diagonal"][-1].tobytes())
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
        done = subprocess.run(verify, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("DAMAGED     analysis.hdf: a file of rows cannot be used: its checksum", done.stdout)
        self.assertEqual(subprocess.run(compare, capture_output=True, check=False).returncode, 3)
        path.unlink()
        done = subprocess.run(verify, capture_output=True, text=True, check=False)
        self.assertIn("DAMAGED     analysis.hdf: there is no file", done.stdout)

    def test_damaged_rows_are_read_or_refused_and_never_waited_for(self):
        run = self.run_deck(self.deck("advection/gaussian.toml", GAUSSIAN), "run", **self.small(), analysis__format="hdf5")
        whole = (run.path / "analysis.hdf").read_bytes()
        seed = 20261130
        random = np.random.default_rng(seed)
        said = [f"replay: seed {seed}"]
        for n in range(60):
            byte, change = int(random.integers(len(whole))), int(random.integers(1, 256))
            said.append(f"damage {n}: byte {byte} of {len(whole)} changed by ^{change}")
            (self.path / f"{n:03d}.hdf").write_bytes(whole[:byte] + bytes([whole[byte] ^ change]) + whole[byte + 1:])
        # HDF5 takes a damaged item for one that is being written, and reads it again.
        code = ("import sys, tessera\nfor path in sys.argv[1:]:\n  print('reading', path, flush=True)\n"
                "  try:\n    tessera.AnalysisRows(path)\n    print('read', flush=True)\n"
                "  except tessera.InputError:\n    print('refused', flush=True)\n")
        paths = [run.path / "analysis.hdf", *sorted(self.path.glob("*.hdf"))]
        try:
            done = subprocess.run([sys.executable, "-c", code, *paths], stdout=subprocess.PIPE, text=True, check=False, timeout=60)
        except subprocess.TimeoutExpired as late:
            self.fail("\n".join([*said, "the last one of these was waited for:", (late.stdout or b"").decode()]))
        ends = done.stdout.split("\n")[1::2]
        self.assertEqual((done.returncode, len(ends), ends[0]), (0, len(paths), "read"), "\n".join([*said, done.stdout]))
        self.assertIn("refused", ends, said[0])

    def test_rows_can_be_read_while_they_are_written_and_after_a_kill(self):
        text = (runs.INPUTS / "heat/dirichlet_slab.toml").read_text().replace("end = 0.5", "end = 1e9")
        text = text.replace("every = 0.125", "every_steps = 1000000").replace("every_steps = 50", "every_steps = 5")
        deck = self.path / "deck.toml"
        deck.write_text(text + '[analysis]\nformat = "hdf5"\n[[analysis.probe]]\nname = "p"\nfield = "temperature"\nat = [0.5, 0, 0]\n')
        process = subprocess.Popen([find_program(), "run", "-q", "--threads", "1", "--out", self.path / "run", deck])
        seen = []
        for _ in range(400):
            time.sleep(0.05)
            if (self.path / "run/history.csv").is_file() and (self.path / "run/analysis.hdf").is_file():
                try:
                    seen.append(len(tessera.load(self.path / "run").history))
                except tessera.InputError:  # the first line is being written
                    continue
            if len(set(seen)) > 3:
                break
        process.kill()
        process.wait()
        self.assertGreater(len(set(seen)), 3)
        self.assertEqual(seen, sorted(seen))
        table = tessera.load(self.path / "run").history
        self.assertGreaterEqual(len(table), seen[-1])
        self.assertIn("p", table)

    def test_a_run_folder_may_be_named_by_a_link(self):
        run, link = runs.gaussian(), self.path / "link"
        link.symlink_to(run.path)
        for words in (["info", link], ["info", "--verify", link], ["info", "--verify", "--json", link], ["compare", link, run.path],
                      ["compare", "--exact", run.path, link]):
            done = subprocess.run([find_program(), *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(runs.call("extract", link, "--point", "0.5,0.5,0.5")[0], 0)

    def test_a_variable_of_several_components_is_not_looked_at_as_a_whole(self):
        deck = self.deck("euler/sod.toml", '[[analysis.region]]\nname = "a"\nfield = "gas"\n')
        done = subprocess.run([find_program(), "check", deck], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn('has 5 components; name one of them, for example "gas.density"', done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
