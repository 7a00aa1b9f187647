"""Fields that are computed: formulas and derivatives on refined levels, pressure and its kind of gases, what pictures show."""
import shutil
import tempfile
import unittest
from pathlib import Path

import numpy as np
import runs
import synthetic
from tessera import FieldFile, UsageError, report
from tessera.plots.planes import plane_of


class FormulaTest(unittest.TestCase):
    """On three levels whose density is x + 10 y + 100 z at every centre."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        synthetic.write(Path(self.folder.name) / "fields_000007.hdf")
        self.file = FieldFile(Path(self.folder.name) / "fields_000007.hdf")

    def tearDown(self):
        self.file.close()
        self.folder.cleanup()

    def values(self, name):
        return np.concatenate([values[mask] for _, mask, values in self.file.leaves(name)])

    def test_a_formula_is_taken_at_the_centre_of_each_cell(self):
        np.testing.assert_allclose(self.values("=density - (x + 10*y + 100*z)"), 0.0, atol=1e-12)
        np.testing.assert_array_equal(self.values("=density/2 + potential*t"),
                                      self.values("density") / 2 + self.values("potential") * 0.5)

    def test_derivatives_of_a_linear_function_are_right_in_every_cell_of_every_level(self):
        self.file.periodic = (False, False, False)
        for name, expected in (("=dx(density)", 1.0), ("=dy(density)", 10.0), ("=dz(density)", 100.0), ("=gradient(density)", 10101**0.5),
                               ("=dx(dy(density*x))", 10.0), ("=dx(3)", 0.0)):
            np.testing.assert_allclose(self.values(name), expected, rtol=1e-10, atol=1e-10, err_msg=name)

    def test_beyond_a_periodic_side_lies_the_other_one(self):
        grid, slopes = (self.file.covering_grid(name, 0).values for name in ("density", "=dx(density)"))
        expected = (grid[1] - grid[-1]) / (2 * synthetic.SPACING[0])
        np.testing.assert_allclose(slopes[0], expected, rtol=1e-12)
        np.testing.assert_allclose(slopes[-1], (grid[0] - grid[-2]) / (2 * synthetic.SPACING[0]), rtol=1e-12)

    def test_a_schlieren_picture_is_darkest_at_the_largest_gradient(self):
        values = self.values("schlieren(density)")
        self.assertAlmostEqual(values.min(), np.exp(-15.0), delta=1e-12)
        gradient = self.values("=gradient(density)")
        np.testing.assert_allclose(values, np.exp(-15.0 * gradient / gradient.max()), rtol=1e-12)

    def test_what_cannot_be_computed_is_a_sentence(self):
        for name, said in (("=densty", "unknown name 'densty'"), ("=gas.pressure", "names gas.pressure, and"), ("pressure", "has no field"),
                           ("=dx(density", "')' is missing"), ("=velocity", "several numbers a cell"),
                           ("=dx(1, 2)", "')' is missing before ','")):
            with self.assertRaisesRegex(UsageError, said.replace("(", r"\(").replace(")", r"\)")):
                self.file.integral(name)


class GasTest(unittest.TestCase):
    def test_the_gas_of_a_shock_tube_is_that_of_the_exact_solution(self):
        # Between contact and rarefaction: Toro's table for Sod's problem.
        fields = runs.sod().fields[-1]
        for name, expected in (("gas.density", 0.42632), ("gas.pressure", 0.30313), ("gas.velocity_x", 0.92745),
                               ("gas.internal_energy", 0.30313 / (0.4 * 0.42632)), ("gas.mach", 0.92745 / (1.4 * 0.30313 / 0.42632)**0.5),
                               ("gas.entropy", 0.30313 / 0.42632**1.4)):
            self.assertAlmostEqual(fields.points(name, [(0.6, 0.5, 0.5)])[0] / expected, 1.0, delta=0.004, msg=name)
        self.assertEqual(fields.points("pressure", [(0.6, 0.5, 0.5)]), fields.points("gas.pressure", [(0.6, 0.5, 0.5)]))
        self.assertEqual(fields.shown, ["gas.density", "gas.pressure", "gas.velocity_x"])

    def test_a_vortex_turns_with_its_curl_on_both_levels(self):
        fields = runs.vortex().fields[0]
        # beta/(2 pi) exp((1 - r^2)/2) (2 - r^2), where r is the distance to the middle.
        exact = lambda x, y, z, t: 2.5 / np.pi * np.exp((1 - x * x - y * y) / 2) * (2 - x * x - y * y)  # noqa: E731
        for patch, mask, values in fields.leaves(fields.error("vorticity_z", exact)):
            self.assertLess(np.abs(values[mask]).max(), 0.12 if patch.level.number == 0 else 0.04)
        self.assertEqual(fields.field("vorticity").unit, "1/time")

    def test_of_a_file_alone_gamma_is_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = FieldFile(shutil.copy(runs.sod().fields.paths[-1], folder))
            with self.assertRaisesRegex(UsageError, r"fields\.constants\['gamma'\] = 1\.4"):
                alone.extremes("pressure")
            self.assertNotIn("gas.pressure", alone.shown)
            alone.constants["gamma"] = 1.4
            self.assertEqual(alone.extremes("pressure"), runs.sod().fields[-1].extremes("pressure"))
            alone.close()

    def test_in_solid_cells_there_is_no_gas(self):
        fields = runs.forward_step().fields[-1]
        solid = fields.slice("euler.solid").values != 0
        self.assertGreater(solid.sum(), 100)
        for name in ("gas.density", "pressure", "schlieren"):
            np.testing.assert_array_equal(np.isnan(plane_of(fields, name, "z", None).values), solid, err_msg=name)

    def test_all_commands_take_computed_fields(self):
        with tempfile.TemporaryDirectory() as folder:
            out, run = Path(folder), runs.vortex().path
            for arguments in (("plot", run, "--field", "schlieren", "--levels", "-o", out / "a.png"),
                              ("plot", run, "--field", "=gas.energy/gas.density", "--line", "x", "-o", out / "b.svg"),
                              ("plot", run, "--field", "mach", "--three", "-o", out / "c.png"),
                              ("plot", run, "--field", "mach", "-o", out / "d.html"),
                              ("extract", run, "--field", "pressure", "--line", "x", "-o", out / "e.csv"),
                              ("export", run, "--format", "npz", "--field", "pressure", "-o", out / "f.npz"),
                              ("export", run, "--format", "plotfile", "--field", "gas.pressure", "-o", out / "g"),
                              ("compare", run, run, "--norms", "--field", "pressure", "--picture", out / "h.png")):
                code, _, error = runs.call(*arguments)
                self.assertEqual(code, 0, error)
            with np.load(out / "f.npz") as archive:
                np.testing.assert_array_equal(archive["pressure"], runs.vortex().fields[-1].covering_grid("pressure").values)

    def test_a_report_shows_density_pressure_velocity_and_schlieren(self):
        with tempfile.TemporaryDirectory() as folder:
            text = report.write(runs.vortex(), Path(folder) / "report.html").read_text()
        for name in ("gas.density", "gas.pressure", "gas.speed", "gas.schlieren"):
            self.assertIn(f"<h3>{name}</h3>", text)
        self.assertNotIn("<h3>gas.energy</h3>", text)


if __name__ == "__main__":
    unittest.main()
