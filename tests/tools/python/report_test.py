"""Reports: one file, no network, the same bytes for the same run; the numbers are those of the run."""
import hashlib
import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import runs
import tessera
from tessera import report
from tessera.report import fields
from tessera.report.build import HERE, text_of

SECTIONS = ["overview", "pictures", "history", "conserved", "mesh", "tasks", "timeline", "path", "waiting", "memory",
            "warnings", "deck", "provenance"]
FIELD_SECTIONS = ["overview", "pictures", "history", "conserved", "mesh"]


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1))


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def test_all_sections_are_there_and_nothing_is_loaded(self):
        for run in (runs.cosine(), runs.gaussian(), runs.slab(), runs.three_levels(), runs.two_levels(), runs.sedov(),
                    runs.taylor_green()):
            text = report.write(run, self.path / "report.html").read_text()
            self.assertEqual(re.findall(r'<section id="(\w+)">', text), SECTIONS)
            self.assertLess(len(text), 5 * 2**20)
            # Nothing that a browser would fetch.
            self.assertEqual(re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', text), [])
            self.assertNotIn("@import", text)

    def test_curves_have_the_numbers_of_the_history(self):
        run = runs.cosine()
        data = data_of(text_of(report.report_data(run)))
        chart = data["charts"]["history-heat.max"]
        self.assertEqual(len(chart["x"]), len(run.history))
        self.assertEqual(chart["series"][0]["values"][-1], float(f"{run.history.last('heat.max'):.9g}"))

    def test_the_drift_of_what_is_conserved_is_told(self):
        text = text_of(report.report_data(runs.gaussian()))
        table = re.search(r'<section id="conserved">.*?</table>', text, re.S).group(0)
        self.assertIn("advection.total", table)
        drift = float(re.findall(r'data-value="([^"]+)"', table)[-1])
        self.assertIn("<td>amount</td>", table)
        total = runs.gaussian().history["advection.total"]
        self.assertAlmostEqual(drift, abs(total - total[0]).max() / total[0])
        self.assertLess(drift, 1e-13)

    def test_the_same_run_gives_the_same_bytes(self):
        first = report.write(runs.three_levels(), self.path / "a.html").read_bytes()
        self.assertEqual(report.write(runs.three_levels(), self.path / "b.html").read_bytes(), first)

    def test_a_deck_cannot_break_out_of_the_page(self):
        run = self.copy(runs.slab())
        deck = run.path / "deck.toml"
        deck.write_text(deck.read_text() + "# </pre><script>alert(1)</script> @DATA@ </script>\n")
        resolved = run.path / "resolved.toml"
        resolved.write_text(resolved.read_text().replace("Daily heat wave", "</script><b>Daily @JS@"))
        text = text_of(report.report_data(tessera.Run(run.path)))
        self.assertNotIn("<script>alert", text)
        self.assertNotIn("</script><b>", text)
        self.assertIn("&lt;script&gt;alert(1)&lt;/script&gt; @DATA@", text)
        data_of(text)

    def test_a_run_that_goes_on_or_was_killed_has_a_report_too(self):
        run = self.copy(runs.slab())
        for name in ("result.json", "statistics.csv", "resolved.toml", "provenance.json", "log.jsonl"):
            (run.path / name).unlink()
        text = text_of(report.report_data(tessera.Run(run.path)))
        self.assertIn("it is still running, or was killed", text)
        shutil.rmtree(run.path / "out")
        (run.path / "history.csv").unlink()
        self.assertIn("The run has written no fields", text_of(report.report_data(tessera.Run(run.path))))

    def test_warnings_are_shown(self):
        run = self.copy(runs.slab())
        result = json.loads((run.path / "result.json").read_text())
        result["warnings"] = ["the disk is <full>"]
        (run.path / "result.json").write_text(json.dumps(result))
        self.assertIn("the disk is &lt;full&gt;", text_of(report.report_data(tessera.Run(run.path))))

    def test_two_runs_are_compared(self):
        other = tessera.run(runs.INPUTS / "heat/dirichlet_slab.toml", self.path / "other", options=["--threads", 1],
                            constants__k=0.12)
        text = report.write_comparison(runs.slab(), other, self.path / "c.html").read_text()
        decks = re.search(r'<section id="decks">(.*?)</section>', text, re.S).group(1)
        self.assertEqual(re.findall(r"<tr><td>([^<]+)</td>", decks), ["constants.k"])
        fields = re.search(r'<section id="fields">(.*?)</section>', text, re.S).group(1)
        largest = float(re.findall(r'data-value="([^"]+)"', fields)[2])
        lines = [run.fields[-1].line("temperature", (0, .5, .5), (1, .5, .5)).values for run in (runs.slab(), other)]
        self.assertAlmostEqual(largest, abs(lines[1] - lines[0]).max())
        chart = data_of(text)["charts"]["history-heat.max"]
        self.assertEqual([s["name"] for s in chart["series"]], ["slab", "other"])

    def test_runs_of_other_meshes_are_compared_without_fields(self):
        code, _, error = runs.call("report", runs.slab().path, runs.gaussian().path, "-o", self.path / "c.html")
        self.assertEqual(code, 0, error)
        self.assertIn("different meshes", (self.path / "c.html").read_text())

    def test_field_files_alone_have_a_report(self):
        run = runs.bump()  # without its folder: nothing of the deck, the history or the trace is there
        shutil.copytree(run.path / "out", self.path / "alone")
        code, said, error = runs.call("report", self.path / "alone", "-o", self.path / "fields.html")
        self.assertEqual(code, 0, error)
        text = (self.path / "fields.html").read_text()
        self.assertEqual(re.findall(r'<section id="(\w+)">', text), FIELD_SECTIONS)
        self.assertEqual(re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', text), [])
        charts = data_of(text)["charts"]
        # Largest value and integral are those of the run's own history, at the times of the files.
        table, times = run.history, run.fields.times
        at = [list(table["time"]).index(time) for time in times]
        for name, column in (("max", "advection.max"), ("min", "advection.min")):
            chart = charts[f"history-concentration.{name}"]
            self.assertEqual(chart["x"], times)
            expected = [float(f"{v:.9g}") for v in table[column][at]]
            found = [v * float(chart["title"].partition(", in ")[2] or 1) for v in chart["series"][0]["values"]]
            for a, b in zip(found, expected, strict=True):
                self.assertAlmostEqual(a, b, delta=1e-8 * abs(b))
        overview = re.search(r'<section id="overview">.*?</section>', text, re.S).group(0)
        integral = float(re.findall(r'data-value="([^"]+)"', overview)[-1])
        self.assertAlmostEqual(integral, table.last("advection.total"), delta=1e-14)
        self.assertIn(f"<td>{run.fields[-1].leaf_cells()}</td>", overview)
        self.assertIn(run.fields[-1].run_id, overview)
        # One file has pictures and mesh, and nothing over time.
        code, said, error = runs.call("report", self.path / "alone" / run.fields.paths[-1].name, "-o", self.path / "one.html")
        self.assertEqual(code, 0, error)
        self.assertEqual(re.findall(r'<section id="(\w+)">', (self.path / "one.html").read_text()), ["overview", "pictures", "mesh"])

    def test_the_curves_of_many_field_files_are_of_some(self):
        states = [runs.slab().fields[-1]] * 250
        table = fields.FieldFiles("many", states).table()
        self.assertEqual(len(table), fields.MOST_STATES)
        self.assertEqual(table.unit("temperature.max"), "temperature")
        self.assertEqual((table.last("temperature.min"), table.last("temperature.max")), states[0].extremes("temperature"))

    def test_mistakes_are_sentences(self):
        for arguments, code, said in ((["report", "nowhere"], 3, "there is no nowhere"),
                                      (["report", "a", "b", "c"], 2, "one run, or two"),
                                      (["report", runs.slab().fields.paths[0], runs.slab().path], 2, "tessera compare A B --norms"),
                                      (["report", runs.slab().path / "history.csv"], 2, "nothing to report on"),
                                      (["report", runs.slab().path, "-o", self.path / "no/a.html"], 5, "cannot be written")):
            got, _, error = runs.call(*arguments)
            self.assertEqual(got, code)
            self.assertIn(said, error)

    def test_the_vendored_library_is_what_was_pinned(self):
        for line in (HERE / "vendor/hashes.txt").read_text().splitlines():
            digest, name = line.split()
            self.assertEqual(hashlib.sha256((HERE / "vendor" / name).read_bytes()).hexdigest(), digest)

    def copy(self, run):
        return tessera.Run(shutil.copytree(run.path, self.path / "copy"))


if __name__ == "__main__":
    unittest.main()
