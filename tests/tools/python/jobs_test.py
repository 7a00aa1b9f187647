"""Folders of `tessera job` and `tessera ensemble` in Python: numbers, pictures, reports, the gallery."""
import json
import math
import re
import subprocess
import tempfile
import unittest
from functools import cache
from pathlib import Path

import runs
import tessera
from tessera import report
from tessera.program import find_program
from tessera.report.build import text_of

FOLDER = tempfile.TemporaryDirectory(prefix="tessera-jobs-tests-")


@cache
def result_of(command, deck, *options):
    """(exit code, the folder opened) of a deck of inputs/."""
    out = Path(FOLDER.name) / re.sub(r"\W+", "_", "_".join([deck, *options]))
    done = subprocess.run([find_program(), command, runs.INPUTS / deck, "-q", "--out", out, *options], capture_output=True,
                          text=True, check=False)
    return done.returncode, tessera.load(out)


def photons():
    return result_of("job", "jobs/van_de_hulst.toml", "--set", "photons.photons=2000")


class JobTest(unittest.TestCase):
    def test_a_job_has_its_numbers_with_right_answers(self):
        code, job = photons()
        self.assertIsInstance(job, tessera.Job)
        self.assertEqual((code, job.program, job.as_expected), (0, "photons", True))
        diffuse = job.numbers["diffuse"]
        right = diffuse.expected[0]
        self.assertLessEqual(abs(diffuse.value - right["value"]), right["room"])
        self.assertEqual(job.result["overrides"], ["photons.photons=2000"])
        self.assertEqual(job.deck.text, (runs.INPUTS / "jobs/van_de_hulst.toml").read_text())

    def test_a_wrong_answer_is_marked_everywhere(self):
        code, job = result_of("job", "jobs/van_de_hulst.toml", "--set", "photons.photons=2000", "--set",
                              "photons.layers=[{thickness=0.04, absorbs=1.0, scatters=9.0}]")
        self.assertEqual((code, job.as_expected), (4, False))
        text = text_of(report.results_data(job))
        self.assertIn("NOT as expected", text)
        self.assertIn('<tr class="differs">', text)

    def test_the_result_is_json_whatever_its_numbers_are(self):
        done = subprocess.run([find_program(), "job", runs.INPUTS / "jobs/matrix_product.toml", "--json", "--out",
                               Path(FOLDER.name) / "json", "--set", "matrix_product.rows=40", "--set", 'job.title="a \\"quoted\\" one"'],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found, json.loads((Path(FOLDER.name) / "json/result.json").read_text()))
        self.assertEqual(found["title"], 'a "quoted" one')
        # Texts in the place of NaN and infinity, as in the results of runs.
        (Path(FOLDER.name) / "json/result.json").write_text(json.dumps(
            {**found, "numbers": {"a": {"value": "nan", "deviation": "inf"}}}))
        number = tessera.load(Path(FOLDER.name) / "json").numbers["a"]
        self.assertTrue(math.isnan(number.value) and math.isinf(number.deviation))

    def test_pictures_reports_and_info(self):
        _, job = photons()
        with tempfile.TemporaryDirectory() as folder:
            code, said, error = runs.call("plot", job.path, "-o", f"{folder}/a.png")
            self.assertEqual((code, said), (0, f"wrote {folder}/a.png\n"), error)
            self.assertGreater(Path(f"{folder}/a.png").stat().st_size, 10000)
            code, _, error = runs.call("report", job.path, "-o", f"{folder}/a.html")
            self.assertEqual(code, 0, error)
            text = Path(f"{folder}/a.html").read_text()
            self.assertEqual(re.findall(r'<section id="(\w+)">', text), ["overview", "pictures", "tables", "deck"])
            self.assertEqual(re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', text), [])
            self.assertLess(len(text), 5 * 2**20)
            self.assertEqual(runs.call("report", job.path, job.path)[0], 2)
        found = json.loads(runs.call("info", "--json", job.path)[1])
        self.assertEqual((found["kind"], found["program"]), ("job", "photons"))
        self.assertIn("absorption.csv", found["files"])
        done = subprocess.run([find_program(), "info", job.path], capture_output=True, text=True, check=False)
        self.assertIn("  diffuse = ", done.stdout)
        done = subprocess.run([find_program(), "compare", job.path, job.path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is the folder of a job", done.stderr)
        self.assertEqual(runs.call("extract", job.path, "--point", "0,0,0")[0], 2)

    def test_the_folder_of_a_run_is_not_written_into(self):
        done = subprocess.run([find_program(), "job", runs.INPUTS / "jobs/matrix_product.toml", "--out", runs.slab().path],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 5)
        self.assertIn("is that of a run", done.stderr)


class EnsembleTest(unittest.TestCase):
    def test_stages_and_exchanges(self):
        code, stages = result_of("ensemble", "ensemble/trajectories.toml")
        self.assertEqual((code, stages.stages, stages.is_exchange), (0, ["short", "long"], False))
        drift = stages.numbers("short", "largest_drift")
        self.assertEqual(len(drift), 12)
        # Velocity Verlet: the error falls with the square of the step.
        dt = stages.numbers("short", "dt")
        self.assertGreater(drift[dt == 0.02].mean(), 8 * drift[dt == 0.005].mean())
        self.assertNotIn("seed", stages.results_of("short"))
        with tempfile.TemporaryDirectory() as folder:
            for name in ("plot", "report"):
                out = f"{folder}/a.{'png' if name == 'plot' else 'html'}"
                code, _, error = runs.call(name, stages.path, "-o", out)
                self.assertEqual(code, 0, error)
                self.assertTrue(Path(out).is_file())
        found = json.loads(runs.call("info", "--json", stages.path)[1])
        self.assertEqual((found["kind"], found["rows"]), ("ensemble", {"short": 12, "long": 4}))

    def test_an_exchange_has_a_title_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "deck.toml").write_text((runs.INPUTS / "ensemble/replica_exchange.toml").read_text())
            self.assertEqual(tessera.load(folder).title, "Replica exchange")

    def test_the_gallery_has_jobs_and_ensembles(self):
        with tempfile.TemporaryDirectory() as folder:
            code, _, error = runs.call("gallery", runs.INPUTS / "jobs/matrix_product.toml",
                                       runs.INPUTS / "ensemble/trajectories.toml", "--runs", f"{folder}/runs", "-o",
                                       f"{folder}/gallery")
            self.assertEqual(code, 0, error)
            text = Path(f"{folder}/gallery/gallery.md").read_text()
            for line in ("`./tessera job inputs/jobs/matrix_product.toml`", "`./tessera ensemble inputs/ensemble/trajectories.toml`"):
                self.assertIn(line, text)
            self.assertEqual(len(list(Path(f"{folder}/gallery").glob("*.png"))), 2)


if __name__ == "__main__":
    unittest.main()
