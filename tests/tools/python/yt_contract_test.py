"""What is handed to yt's stream interface: its contract, checked without yt. yt_test.py runs the real one."""
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import runs
import synthetic
import tessera
from tessera.yt_loader import stream_arguments


def check(test, file, grids, arguments):
    """Edges, shapes, levels and nesting as `yt.load_amr_grids` needs them; no cell twice; all values right."""
    dimensions, box = np.array(arguments["domain_dimensions"]), arguments["bbox"]
    ratio = np.broadcast_to(arguments["refine_by"], 3)
    width = (box[:, 1] - box[:, 0]) / dimensions
    for grid in grids:
        spacing = width / ratio.astype(float) ** grid["level"]
        first = (grid["left_edge"] - box[:, 0]) / spacing
        np.testing.assert_allclose(first, np.round(first), atol=1e-9)
        np.testing.assert_allclose((grid["right_edge"] - grid["left_edge"]) / spacing, grid["dimensions"], atol=1e-9)
        for name in set(grid) - {"left_edge", "right_edge", "dimensions", "level"}:
            test.assertEqual(grid[name].shape, tuple(grid["dimensions"]))
        if grid["level"] > 0:
            inside = [parent for parent in grids if parent["level"] == grid["level"] - 1
                      and (parent["left_edge"] <= grid["left_edge"] + 1e-9).all()
                      and (parent["right_edge"] >= grid["right_edge"] - 1e-9).all()]
            test.assertEqual(len(inside), 1, f"a grid of level {grid['level']} has {len(inside)} parents")
    deepest = max(grid["level"] for grid in grids)
    volumes = [sum(np.prod(g["right_edge"] - g["left_edge"]) for g in grids if g["level"] == n) for n in range(deepest + 1)]
    test.assertAlmostEqual(volumes[0], np.prod(box[:, 1] - box[:, 0]))
    cells = sum(int(np.prod(g["dimensions"])) for g in grids)
    covered = sum(round(volumes[n + 1] / np.prod(width / ratio.astype(float) ** n)) for n in range(deepest))
    test.assertEqual(cells - covered, file.leaf_cells())


class ContractTest(unittest.TestCase):
    def test_three_levels_of_ratios_two_and_four(self):
        with TemporaryDirectory() as folder:
            synthetic.write(Path(folder) / "a.hdf")
            file = tessera.FieldFile(Path(folder) / "a.hdf")
            grids, arguments = stream_arguments(file)
            self.assertEqual(arguments["refine_by"], 2)
            self.assertEqual(sorted({g["level"] for g in grids}), [0, 1, 2, 3])
            check(self, file, grids, arguments)
            for grid in grids:  # linear: each value, averages of the level between included, is that of its centre
                h = (grid["right_edge"] - grid["left_edge"]) / grid["dimensions"]
                x, y, z = np.meshgrid(*[grid["left_edge"][a] + h[a] * (np.arange(grid["dimensions"][a]) + 0.5) for a in range(3)],
                                      indexing="ij")
                np.testing.assert_allclose(grid["density"], synthetic.linear(x, y, z), rtol=1e-13)

    def test_runs_of_the_program(self):
        for run in (runs.two_levels(), runs.three_levels(), runs.gaussian()):
            grids, arguments = stream_arguments(run.fields[-1])
            check(self, run.fields[-1], grids, arguments)
        self.assertEqual(list(stream_arguments(runs.three_levels().fields[-1])[1]["refine_by"]), [2, 2, 1])

    def test_a_missing_yt_is_a_sentence(self):
        import builtins
        from unittest import mock

        real = builtins.__import__

        def without(name, *arguments, **more):
            if name == "yt":
                raise ImportError(name)
            return real(name, *arguments, **more)

        with mock.patch("builtins.__import__", without), self.assertRaises(tessera.MissingPackage) as caught:
            tessera.to_yt(runs.gaussian())
        self.assertIn("python3-yt", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
