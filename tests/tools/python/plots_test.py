"""Pictures: what is drawn is what the fields hold, outlines lie where the levels are, errors are sentences."""
import tempfile
import unittest
from pathlib import Path

import numpy as np
import synthetic
from runs import call, gaussian
from tessera import FieldFile, plots
from tessera.expression import Expression
from tessera.plots.planes import patches_on, plane_of, region_edges
from tessera.plots.style import ColourRange
from tessera.table import Table


class PlotsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        for step, time in enumerate((0.0, 0.5, 1.0)):
            synthetic.write(self.path / f"fields_{step:06d}.hdf", time, step, lambda x, y, z, t=time: x + 10 * y + t)
        self.file = FieldFile(self.path / "fields_000001.hdf")

    def tearDown(self):
        self.file.close()
        self.folder.cleanup()

    def test_an_image_has_the_values_of_the_plane(self):
        figure = plots.slice_figure([self.file], "density", "z", 2.9)
        image = figure.axes[0].get_images()[0]
        plane = self.file.slice("density", "z", 2.9)
        np.testing.assert_array_equal(image.get_array().filled(np.nan), plane.values.T)
        self.assertEqual(list(image.get_extent()), [0.0, 1.0, -1.0, 1.0])
        self.assertIn("density (kg/m³)", [axes.get_ylabel() for axes in figure.axes])
        # The file says no unit of length.
        self.assertEqual((figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()), ("x (length)", "y (length)"))

    def test_outlines_of_levels_are_the_edges_of_their_regions(self):
        boxes = list(patches_on(self.file, self.file.levels[1], "z", 2.9))
        self.assertEqual(boxes, [(0.25, -0.5, 0.625, 0.5), (0.625, -0.5, 0.75, 0.5)])
        edges = {tuple(sorted(edge)) for edge in region_edges(boxes)}
        # Two boxes side by side, both full height: the edge between them is not there.
        self.assertNotIn(((0.625, -0.5), (0.625, 0.5)), edges)
        self.assertIn(((0.25, -0.5), (0.25, 0.5)), edges)
        length = sum(abs(b[0] - a[0]) + abs(b[1] - a[1]) for a, b in edges)
        self.assertAlmostEqual(length, 2 * (0.5 + 1.0))
        # Above the refined region there is nothing to outline.
        self.assertEqual(list(patches_on(self.file, self.file.levels[1], "z", 3.9)), [])

    def test_the_error_against_the_exact_solution_is_taken_at_the_centres(self):
        plane = plane_of(self.file, "density", "z", 2.9, Expression("x + 10*y + t"))
        # A coarse cell is many pixels of one value, and none of them has an error of its own.
        self.assertLess(np.nanmax(np.abs(plane.values)), 1e-13)
        plane = plane_of(self.file, "density", "z", 2.9, Expression("x + 10*y + t + 0.25"))
        np.testing.assert_allclose(plane.values, -0.25, atol=1e-13)
        norms = self.file.norms(self.file.error("density", Expression("x + 10*y + t + 0.25")))
        for value in norms.values():
            self.assertAlmostEqual(value, 0.25)

    def test_a_line_figure_has_the_cells_and_the_exact_solution(self):
        figure = plots.line_figure([self.file], "density", (0, -0.1, 2.9), (1, -0.1, 2.9), Expression("x + 10*y + t"))
        curve, exact = figure.axes[0].get_lines()
        self.assertEqual(len(curve.get_xdata()), 18)
        np.testing.assert_allclose(exact.get_ydata(), curve.get_ydata(), rtol=1e-12)

    def test_ranges_are_round_zero_only_where_both_signs_matter(self):
        signed = ColourRange([np.array([-1.0, 0.5])])
        self.assertEqual((signed.low, signed.high, signed.colours), (-1.0, 1.0, "RdBu_r"))
        self.assertEqual(ColourRange([np.array([-0.01, 1.0])]).low, -0.01)
        self.assertLess(ColourRange([np.array([3.0, 3.0])]).low, 3.0)

    def test_one_range_over_a_series_is_the_widest(self):
        files = [FieldFile(self.path / f"fields_{n:06d}.hdf") for n in range(3)]
        figure = plots.slice_figure(files, "density", "z", 2.9, same_range=True)
        limits = {axes.get_images()[0].get_clim() for axes in figure.axes[:3]}
        self.assertEqual(len(limits), 1)
        self.assertEqual(limits.pop()[1], max(np.nanmax(f.slice("density", "z", 2.9).values) for f in files))

    def least_gap(self, figure):
        """Between two numbers side by side below the panels, in widths of a digit."""
        figure.canvas.draw()
        boxes = [label.get_window_extent() for axes in figure.axes for label in axes.get_xticklabels()
                 if label.get_visible() and label.get_text() and axes.get_xlim()[0] <= label.get_position()[0] <= axes.get_xlim()[1]]
        digit = max(box.height for box in boxes) * 0.7
        gaps = [right.x0 - left.x1 for left in boxes for right in boxes if right.x0 > left.x0 and abs(right.y0 - left.y0) < digit]
        return min(gaps) / digit

    def test_numbers_below_the_panels_do_not_touch(self):
        square = list(gaussian().fields)
        self.assertGreater(self.least_gap(plots.slice_figure(square, "concentration", same_range=True)), 1.5)
        times = np.linspace(0, 0.02, 5)
        table = Table(["step", "time", "dt", "a", "b"], [[n, t, 0.005, t, -t] for n, t in enumerate(times)])
        self.assertGreater(self.least_gap(plots.history_figure({"run": table})), 1.0)

    def test_the_command_writes_each_kind(self):
        for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")):
            code, said, _ = call("plot", self.path / "fields_000001.hdf", "--levels", "--patches", "-o", self.path / name)
            self.assertEqual((code, said), (0, f"wrote {self.path / name}\n"))
            self.assertEqual((self.path / name).read_bytes()[:len(start)], start)
        code, _, said = call("plot", self.path, "--three", "--field", "velocity:x", "-o", self.path / "three.png")
        self.assertEqual(code, 0, said)

    def test_movies_have_a_frame_for_each_state(self):
        code, _, said = call("plot", self.path, "-o", self.path / "a.mp4")
        self.assertEqual(code, 0, said)
        self.assertEqual((self.path / "a.mp4").read_bytes()[4:8], b"ftyp")
        code, _, said = call("plot", self.path, "-o", self.path / "a.html")
        self.assertEqual(code, 0, said)
        page = (self.path / "a.html").read_text()
        self.assertIn('["t = 0, step 0", "t = 0.5, step 1", "t = 1, step 2"]', page)
        self.assertNotRegex(page, r"https?://")

    def test_the_same_picture_has_the_same_bytes(self):
        for name in ("a.svg", "b.svg"):
            call("plot", self.path / "fields_000001.hdf", "-o", self.path / name)
        self.assertEqual((self.path / "a.svg").read_bytes(), (self.path / "b.svg").read_bytes())

    def test_mistakes_are_sentences_with_a_code(self):
        file = self.path / "fields_000001.hdf"
        for arguments, code, said in (
                (["plot", "nowhere"], 3, "there is no nowhere"),
                (["plot", file, "--field", "densty"], 2, "did you mean 'density'"),
                (["plot", file, "--slice", "q=1"], 2, "'q=1' is not a plane"),
                (["plot", file, "--slice", "z=high"], 2, "'high' is not a value for --slice"),
                (["plot", file, "--line", "0,0:1,1,1"], 2, "'0,0' is not a point"),
                (["plot", file, "--range", "2:1"], 2, "is empty"),
                (["plot", file, "--time", "soon"], 2, "'soon' is not a value for --time"),
                (["plot", file, "--error"], 2, "needs an exact solution of density, and field files alone have no deck"),
                (["plot", file, "--range", "0:inf"], 2, "'inf' is not a value for --range"),
                (["plot", file, "--line", "x@y=inf"], 2, "'inf' is not a value for"),
                (["plot", file, "--log", "--range=-1:1"], 2, "--log shows numbers above 0"),
                (["plot", file, "--three", "--slice", "z"], 2, "--slice and --three are different pictures"),
                (["plot", file, "--colours", "virids"], 2, "did you mean 'viridis'"),
                (["plot", file, "--watch"], 2, "--watch needs a run folder"),
                (["plot", file, "-o", self.path / "a.bmpx"], 2, "no kind of picture"),
                (["plot", file, "-o", self.path / "none/a.png"], 5, "cannot be written"),
                (["plot", file, "--frobnicate"], 2, "unrecognized arguments"),
                (["plott"], 2, "did you mean 'plot'")):
            with self.subTest(arguments=arguments[1:]):
                got, _, error = call(*arguments)
                self.assertEqual(got, code, error)
                self.assertIn(said, error)
                self.assertTrue(error.startswith("tessera: error: "))


if __name__ == "__main__":
    unittest.main()
