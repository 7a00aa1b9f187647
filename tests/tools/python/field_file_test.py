"""Reading field files of three levels whose values are known at every place."""
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np
import synthetic
from tessera import FieldFile, InputError, UsageError, load


class FieldFileTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "fields_000007.hdf"
        synthetic.write(self.path)
        self.file = FieldFile(self.path)

    def tearDown(self):
        self.file.close()
        self.folder.cleanup()

    def test_the_header_says_what_was_written(self):
        self.assertEqual((self.file.step, self.file.time, self.file.dt), (7, 0.5, 0.125))
        self.assertEqual(self.file.periodic, (True, False, False))
        self.assertEqual(self.file.names, ["density", "velocity", "potential"])
        self.assertEqual(self.file.field("density").label, "density (kg/m^3)")
        self.assertEqual(self.file.field("potential").centering, "node")
        self.assertEqual([len(level.patches) for level in self.file.levels], [2, 2, 1])
        self.assertEqual(list(self.file.ratio(2)), [4, 4, 4])
        np.testing.assert_array_equal(self.file.bounds, (synthetic.LOWER, synthetic.UPPER))

    def test_arrays_of_patches_are_indexed_x_y_z(self):
        for level in self.file.levels:
            for patch in level.patches:
                x, y, z = np.meshgrid(*[patch.centres(a) for a in range(3)], indexing="ij")
                np.testing.assert_allclose(patch.array("density"), synthetic.linear(x, y, z), rtol=1e-14)
                np.testing.assert_allclose(patch.array("velocity")[..., 1], y, rtol=1e-14)
                # The average of the corners of a linear function is its value in the middle.
                np.testing.assert_allclose(patch.array("potential"), synthetic.linear(x, y, z), rtol=1e-13)

    def test_covered_cells_are_counted_once(self):
        fine = 8 * 8 * 4 + 8 * 8 * 4 - synthetic.COVERED[1]
        finest = 8 * 8 * 4
        self.assertEqual(self.file.leaf_cells(), synthetic.CELLS - synthetic.COVERED[0] + fine - 8 * 8 * 4 + finest)

    def test_the_integral_of_a_linear_function_is_that_of_its_middle(self):
        middle = 0.5 * (synthetic.LOWER + synthetic.UPPER)
        volume = np.prod(synthetic.UPPER - synthetic.LOWER)
        self.assertAlmostEqual(self.file.integral("density"), synthetic.linear(*middle) * volume, delta=1e-10)
        self.assertAlmostEqual(self.file.integral("velocity:y"), middle[1] * volume, delta=1e-12)

    def test_a_covering_grid_of_each_level_keeps_the_integral(self):
        exact = self.file.integral("density")
        for level, factor in enumerate((1, 2, 8)):
            grid = self.file.covering_grid("density", level)
            self.assertEqual(grid.values.shape, (8 * factor, 8 * factor, 4 * factor))
            self.assertAlmostEqual(grid.values.sum() * np.prod(synthetic.spacing(level)), exact, delta=1e-10)

    def test_the_coarsest_covering_grid_is_exact_under_finer_patches(self):
        grid = self.file.covering_grid("density", 0)
        x, y, z = np.meshgrid(*[grid.centres(a) for a in range(3)], indexing="ij")
        np.testing.assert_allclose(grid.values, synthetic.linear(x, y, z), rtol=1e-13)

    def test_a_finest_covering_grid_repeats_coarser_cells(self):
        grid = self.file.covering_grid("velocity:x", 2)
        self.assertEqual(len(np.unique(grid.values[:8, 0, 0])), 1)       # one cell of level 0
        self.assertEqual(grid.values[0, 0, 0], 0.0625)
        self.assertEqual(len(np.unique(grid.values[24:32, 24, 12])), 8)  # eight of level 2

    def test_a_box_is_cut_out_in_whole_cells(self):
        grid = self.file.covering_grid("density", 0, lower=(0.2, -1, 2), upper=(0.3, 1, 2.5))
        self.assertEqual(grid.values.shape, (2, 8, 1))
        np.testing.assert_allclose((grid.lower[0], grid.upper[0]), (0.125, 0.375))

    def test_a_slice_is_a_layer_of_the_covering_grid(self):
        plane = self.file.slice("density", "z", 3.3, level=1)
        grid = self.file.covering_grid("density", 1)
        np.testing.assert_array_equal(plane.values, grid.values[:, :, 5])
        self.assertEqual((plane.axes, plane.extent), (("x", "y"), (0.0, 1.0, -1.0, 1.0)))
        upper = self.file.slice("density", "z", 4.0)  # the upper wall is that of the last cell
        self.assertTrue(np.isfinite(upper.values).all())

    def test_points_take_the_finest_value(self):
        places = [(0.01, -0.9, 2.1), (0.45, -0.1, 2.9), (0.5, 0.1, 3.1), (5, 5, 5)]
        values = self.file.points("velocity:x", places)
        np.testing.assert_allclose(values[:1], [0.0625])
        self.assertAlmostEqual(values[1], 0.125 / 8 * (np.floor(0.45 * 64) + 0.5))
        self.assertTrue(np.isnan(values[3]))

    def test_a_line_crosses_each_leaf_once(self):
        line = self.file.line("velocity:x", (0, -0.1, 2.9), (1, -0.1, 2.9))
        self.assertAlmostEqual(line.lengths.sum(), 1.0)
        # Two cells of level 0, two of level 1, eight of level 2, four of level 1, two of level 0.
        self.assertEqual(list(line.levels), [0] * 2 + [1] * 2 + [2] * 8 + [1] * 4 + [0] * 2)
        np.testing.assert_allclose(line.values, line.points[:, 0], rtol=1e-12)
        self.assertEqual(line.fixed, {"y": -0.1, "z": 2.9})

    def test_a_diagonal_line_has_the_length_that_it_has(self):
        line = self.file.line("density", synthetic.LOWER, synthetic.UPPER)
        self.assertAlmostEqual(line.lengths.sum(), np.linalg.norm(synthetic.UPPER - synthetic.LOWER))
        self.assertTrue((np.diff(line.s) > 0).all())

    def test_vectors_give_components_and_length(self):
        patch = self.file.levels[0].patches[0]
        velocity = patch.array("velocity")
        np.testing.assert_array_equal(self.file.cell_values(patch, "velocity:2"), velocity[..., 2])
        np.testing.assert_allclose(self.file.cell_values(patch, "velocity"), np.linalg.norm(velocity, axis=-1))

    def test_a_file_without_our_own_group_is_read_too(self):
        synthetic.write(self.path.with_name("plain.hdf"), own=False)
        plain = FieldFile(self.path.with_name("plain.hdf"))
        self.assertEqual(set(plain.names), {"density", "velocity", "potential"})
        self.assertAlmostEqual(plain.integral("density"), self.file.integral("density"))

    def test_mistakes_are_sentences(self):
        for asked, said in ((lambda: self.file.integral("densty"), "did you mean 'density'"),
                            (lambda: self.file.slice("density", "z", 9), "outside of the domain, 2 to 4"),
                            (lambda: self.file.slice("density", "q"), "use x, y or z"),
                            (lambda: self.file.covering_grid("density", 3), "has levels 0 to 2"),
                            (lambda: self.file.integral("velocity:3"), "has 3 components"),
                            (lambda: self.file.line("density", (0, 0, 3), (0, 0, 3)), "two points that differ")):
            with self.assertRaises(UsageError) as caught:
                asked()
            self.assertIn(said, str(caught.exception))

    def test_files_that_are_none_are_refused(self):
        wrong = Path(self.folder.name) / "text.hdf"
        wrong.write_text("no HDF5")
        cut = Path(self.folder.name) / "cut.hdf"
        cut.write_bytes(self.path.read_bytes()[:2000])
        other = Path(self.folder.name) / "other.hdf"
        with h5py.File(other, "w") as file:
            file["x"] = 1
        for path, said in ((wrong, "is not an HDF5 file"), (cut, "is not an HDF5 file"), (other, "no group /VTKHDF"),
                           (Path("nowhere.hdf"), "there is no nowhere.hdf")):
            with self.assertRaises(InputError) as caught:
                load(path)
            self.assertIn(said, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
