"""The real yt: every leaf cell once, every value right. Needs yt; with_yt.sh unpacks Debian's."""
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import runs
import synthetic
import tessera
import yt
from tessera import export

yt.set_log_level("error")


class YtTest(unittest.TestCase):
    def check(self, file, ds, name, kind):
        data = ds.all_data()
        values = data[kind, name]
        self.assertEqual(values.size, file.leaf_cells())
        places = np.stack([np.asarray(data["index", axis].to("code_length")) for axis in "xyz"], axis=1)
        np.testing.assert_array_equal(np.asarray(values), file.points(file.names[0], places))

    def test_grids_in_memory(self):
        for run in (runs.two_levels(), runs.three_levels(), runs.gaussian()):
            ds = tessera.to_yt(run)
            file = run.fields[-1]
            self.assertEqual(float(ds.current_time), file.time)
            self.check(file, ds, file.names[0], "stream")

    def test_each_state_of_a_mesh_that_follows_the_solution(self):
        for run in (runs.bump(), runs.spot()):
            for file in run.fields:
                self.check(file, tessera.to_yt(file), file.names[0], "stream")

    def test_units_are_those_of_the_deck(self):
        run = tessera.run(runs.INPUTS / "heat/dirichlet_slab.toml", Path(runs.FOLDER.name) / "cm", 1, ["--threads", "1"], timeout=60,
                          **{"units.length": "cm", "units.time": "min"})
        ds = tessera.to_yt(run)
        self.assertAlmostEqual(float(ds.domain_width[0].to("m")), 0.01 * float(np.ptp(run.fields[-1].bounds, axis=0)[0]))
        self.assertAlmostEqual(float(ds.current_time.to("s")), 60 * run.fields[-1].time)

    def test_a_linear_field_on_ratios_two_and_four(self):
        with TemporaryDirectory() as folder:
            synthetic.write(Path(folder) / "a.hdf")
            file = tessera.FieldFile(Path(folder) / "a.hdf")
            self.check(file, tessera.to_yt(file), "density", "stream")

    def test_plotfiles_are_read_by_yt(self):
        for run in (runs.two_levels(), runs.three_levels(), runs.gaussian()):
            with TemporaryDirectory() as folder:
                file = run.fields[-1]
                export.write_plotfile(file, Path(folder) / "plt00000")
                ds = yt.load(str(Path(folder) / "plt00000"))
                self.assertEqual(float(ds.current_time), file.time)
                data = ds.all_data()
                values = np.asarray(data["boxlib", file.names[0]])
                places = np.stack([np.asarray(data["index", axis].to("code_length")) for axis in "xyz"], axis=1)
                np.testing.assert_array_equal(values, file.points(file.names[0], places))
                volume = np.prod(ds.domain_width.to("code_length").v)
                self.assertAlmostEqual(float(np.sum(data["index", "cell_volume"].to("code_length**3"))), volume)


if __name__ == "__main__":
    unittest.main()
