"""Run folders of the program: fields, series, history, checkpoints, exact solutions, runs and sweeps from Python."""
import tempfile
import unittest
from pathlib import Path

import numpy as np
import runs
import tessera
from tessera.program import find_program


class RunFolderTest(unittest.TestCase):
    def test_what_the_run_left_is_there_by_name(self):
        run = runs.cosine()
        self.assertEqual(run.result["status"], "done")
        self.assertEqual(run.deck.title, "Cosine pattern in an insulated box")
        self.assertEqual(run.deck.get("grid.cells"), [16, 16, 16])       # of the command line
        self.assertEqual(run.deck.get("time.cfl"), 0.9)                  # a default
        self.assertIn("cells = [64, 64, 64]", run.deck_text)             # the deck as it was
        self.assertEqual(len(run.fields), 6)
        self.assertAlmostEqual(run.fields.times[-1], 0.02)
        self.assertEqual(run.fields.at(0.0081).time, run.fields.times[2])
        self.assertEqual(run.fields.step(run.fields[-1].step).path, run.fields[-1].path)
        self.assertFalse(run.is_active)
        self.assertEqual([entry["event"] for entry in run.log][0], "start")
        self.assertEqual(run.provenance["start"]["ranks"], 1)

    def test_the_integral_of_a_field_is_the_total_of_the_history(self):
        run = runs.cosine()
        self.assertAlmostEqual(run.fields[-1].integral("temperature"), run.history.last("heat.total"), delta=1e-14)
        self.assertEqual(run.fields[-1].extremes("temperature"),
                         (run.history.last("heat.min"), run.history.last("heat.max")))

    def test_the_error_against_the_exact_solution_is_that_of_the_history(self):
        for run, field, component in ((runs.cosine(), "temperature", "heat"), (runs.gaussian(), "concentration", "advection"),
                                      (runs.slab(), "temperature", "heat")):
            fields = run.fields[-1]
            norms = fields.norms(fields.error(field, run.exact()[field]))
            for norm in ("l1", "l2", "max"):
                self.assertAlmostEqual(norms[norm], run.history.last(f"{component}.error_{norm}"), delta=1e-13)

    def test_components_from_outside_have_exact_solutions_too(self):
        for fields, expected in ((["salt.amount"], {"salt.amount"}), (["amount", "temperature"], {"amount"}), (["a", "b"], set()),
                                 (["salt.a", "salt.b", "amount"], {"amount"})):
            deck = tessera.Deck({"simulation": {"components": ["salt"]}, "salt": {"exact": "k*x"}, "constants": {"k": 3}})
            self.assertEqual(set(deck.exact(fields)), expected)

    def test_exact_solutions_by_field_are_those_of_the_fields(self):
        run = runs.taylor_green()
        exact = run.exact()
        self.assertEqual(sorted(exact), ["pressure", "velocity_x", "velocity_y"])
        fields = run.fields[-1]
        self.assertEqual(fields.field("velocity_x").centering, "face x")
        # The program compares on faces; here are the means of two faces, with an error of the second order.
        h, patch = 1 / 16, fields.levels[0].patches[0]
        x, y = h * np.arange(patch.shape[0] + 1), patch.centres(1)
        raw = patch.faces("velocity_x")[:, :, 0] - exact["velocity_x"](x[:, None], y[None, :], 0.0, fields.time)
        self.assertLessEqual(abs(raw).max(), run.history.last("lowmach.velocity_x.error_max") * (1 + 1e-12))
        self.assertLess(fields.norms(fields.error("velocity_x", exact["velocity_x"]))["max"], 0.1)
        with tempfile.TemporaryDirectory() as folder:
            for options in (["--error"], ["--line", "x"], ["--field", "velocity_y", "--slice", "z"]):
                code, _, error = runs.call("plot", run.path, *options, "-o", f"{folder}/a.png")
                self.assertEqual(code, 0, error)

    def test_refined_levels_are_read_as_the_program_wrote_them(self):
        fields = runs.three_levels().fields[-1]
        self.assertEqual([list(fields.ratio(n)) for n in (1, 2)], [[2, 2, 1], [4, 4, 1]])
        # The stamp of a cell of level l after step 4 is 1e8 l + 7 * 4 + 1e6 (k+1) + 1e3 j + i.
        patch = fields.levels[2].patches[1]
        i, j, k = np.meshgrid(*[np.arange(patch.lo[a], patch.hi[a] + 1) for a in range(3)], indexing="ij")
        np.testing.assert_array_equal(patch.array("levels.stamp"), 2e8 + 28 + 1e6 * (k + 1) + 1e3 * j + i)
        # What finer cells cover holds their average.
        coarse = fields.levels[0]
        for patch in coarse.patches:
            grid = fields._grid("levels.stamp", 0, patch.lo, patch.hi)
            np.testing.assert_array_equal(grid.values, patch.array("levels.stamp"))

    def test_history_and_statistics_are_tables(self):
        table = runs.cosine().history
        self.assertEqual(table.names[:4], ["step", "time", "dt", "heat.total"])
        self.assertTrue((np.diff(table["time"]) > 0).all())
        with self.assertRaises(tessera.UsageError) as caught:
            table["heat.totl"]
        self.assertIn("did you mean 'heat.total'", str(caught.exception))
        self.assertGreater(runs.cosine().statistics["task_seconds"].sum(), 0)
        frame = table.to_pandas()
        self.assertEqual(list(frame.columns), table.names)
        # Without [units] in the deck units are words.
        self.assertEqual((table.unit("heat.total"), table.unit("time"), table.unit("heat.error_max")),
                         ("temperature length^3", "time", "temperature"))
        self.assertEqual(frame.attrs["units"]["heat.max"], "temperature")
        with self.assertRaises(tessera.UsageError):
            table.unit("heat.totl")
        self.assertEqual(runs.cosine().statistics.unit("wall_seconds"), "")

    def test_a_history_without_units_is_a_table_too(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "history.csv"
            path.write_text("step,time,dt,q\n0,0,0,1\n")
            self.assertEqual(tessera.load(path).unit("q"), "")
            path.with_suffix(".json").write_text('{"units": {"q": "m"}}')
            self.assertEqual(tessera.load(path).unit("q"), "m")
            path.with_suffix(".json").write_text('{"units": ["q"]}')
            with self.assertRaises(tessera.InputError) as caught:
                tessera.load(path)
            self.assertIn("history.json is damaged", str(caught.exception))
            other = path.rename(path.with_name("other.csv"))
            path.with_suffix(".json").rename(other.with_suffix(".json"))  # some other program's
            self.assertEqual(tessera.load(other).unit("q"), "")

    def test_a_line_that_is_being_written_is_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "history.csv"
            path.write_text("step,time,dt\n0,0,0\n10,0.5,0.0")
            self.assertEqual(len(tessera.load(path)), 1)
            path.write_text("step,time,dt\n0,zero,0\n")
            with self.assertRaises(tessera.InputError) as caught:
                tessera.load(path)
            self.assertIn("history.csv:2:", str(caught.exception))

    def test_a_checkpoint_tells_its_state(self):
        checkpoint, = runs.cosine().checkpoints
        self.assertEqual(checkpoint.step, runs.cosine().result["step"])
        self.assertAlmostEqual(checkpoint.time, 0.02)
        self.assertEqual([v["name"] for v in checkpoint.variables], ["temperature"])
        self.assertEqual(checkpoint.variables[0]["type"], "float64")
        self.assertEqual(tessera.load(checkpoint.path).ranks, 1)
        self.assertEqual(checkpoint.patches, [8])

    def test_a_folder_of_field_files_is_enough(self):
        series = tessera.load(runs.gaussian().path / "out")
        self.assertEqual(len(series), 3)
        with tempfile.TemporaryDirectory() as folder:  # without the .series file
            for path in series.paths:
                (Path(folder) / path.name).write_bytes(path.read_bytes())
            self.assertEqual(tessera.load(folder).times, series.times)

    def test_what_is_no_run_is_refused_in_a_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            for path, said in ((folder, "is not a run folder: it has no deck.toml"), ("nowhere", "there is no nowhere")):
                with self.assertRaises(tessera.InputError) as caught:
                    tessera.load(path)
                self.assertIn(said, str(caught.exception))


class ProgramTest(unittest.TestCase):
    def test_a_run_from_python_takes_values_of_any_kind(self):
        with tempfile.TemporaryDirectory() as folder:
            run = tessera.run(runs.INPUTS / "heat/dirichlet_slab.toml", Path(folder) / "run", options=["--threads", 1],
                              grid__cells=[32, 1, 1], time__end=0.125, constants__k=0.2, history__every_steps=1,
                              heat__boundary__x_high={"type": "dirichlet", "value": "exp(-8)"})
            self.assertEqual(run.deck.get("grid.cells"), [32, 1, 1])
            self.assertEqual(run.deck.get("heat.boundary.x_high.type"), "dirichlet")
            self.assertEqual(run.result["time"], 0.125)

    def test_a_run_that_fails_says_why(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(tessera.RunFailed) as caught:
            tessera.run(runs.INPUTS / "heat/cosine.toml", Path(folder) / "run", heat__condutivity=1)
        self.assertEqual(caught.exception.code, 2)
        self.assertIn("did you mean 'conductivity'", str(caught.exception))

    def test_a_sweep_runs_each_combination_once(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = dict(options=["--threads", 1], constants__k=[0.1, 0.2], grid__cells=[[16, 1, 1], [32, 1, 1]],
                             time__end=[0.125])
            found = tessera.sweep(runs.INPUTS / "heat/dirichlet_slab.toml", folder, **arguments)
            self.assertEqual([(v["constants.k"], v["grid.cells"][0]) for v, _ in found],
                             [(0.1, 16), (0.1, 32), (0.2, 16), (0.2, 32)])
            stamps = [(run.path / "result.json").stat().st_mtime_ns for _, run in found]
            again = tessera.sweep(runs.INPUTS / "heat/dirichlet_slab.toml", folder, **arguments)
            self.assertEqual([(run.path / "result.json").stat().st_mtime_ns for _, run in again], stamps)
            with self.assertRaises(tessera.UsageError) as caught:
                tessera.sweep(runs.INPUTS / "heat/dirichlet_slab.toml", folder, **{**arguments, "constants__k": [0.3]})
            self.assertIn("from other values", str(caught.exception))

    def test_the_program_is_found(self):
        self.assertTrue(Path(find_program()).is_file())


class ExpressionTest(unittest.TestCase):
    def test_it_means_what_the_program_means(self):
        # A deck whose initial value is the formula; the program's own evaluation is the oracle.
        formulas = ["-x^2 + 2^-y^2", "x < 0.3 && y > 0.5 || x == y ? 1 : -1", "mod(x - 0.7, 0.4) + round(5*y) + sign(x - 0.5)",
                    "atan2(y, x) * max(x, y, 0.25) - min(x, 1 - y)", "if(x > y, sqrt(x), log10(1 + y)) / 3 - abs(x - y) * 2^3^0.5",
                    "1e-1*cosh(x)+.5*tanh(y) - -x"]
        with tempfile.TemporaryDirectory() as folder:
            for number, text in enumerate(formulas):
                run = tessera.run(runs.INPUTS / "heat/eigenmode_2d.toml", Path(folder) / str(number), options=["--threads", 1],
                                  heat__initial=text, time__max_steps=1, heat__exact="0")
                fields = run.fields[0]
                expected = tessera.Expression(text)
                for patch in fields.levels[0].patches:
                    x, y = np.meshgrid(patch.centres(0), patch.centres(1), indexing="ij")
                    np.testing.assert_allclose(patch.array("temperature")[..., 0], expected(x, y, 0.5), rtol=1e-14,
                                               atol=1e-15, err_msg=text)

    def test_mistakes_are_sentences(self):
        for text, said in (("1 +", "is missing"), ("sin(x", "')' is missing"), ("2 x", "operator is missing"),
                           ("sinn(x)", "did you mean 'sin'"), ("* 2", "has no value before it"), ("x $ y", "'$'"),
                           ("width", "unknown name 'width'")):
            with self.assertRaises(tessera.UsageError) as caught:
                tessera.Expression(text)
            self.assertIn(said, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
