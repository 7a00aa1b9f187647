"""Reports in a real browser without a screen: no error, all sections, hover and zoom work, nothing is fetched."""
import shutil
import tempfile
import unittest
from pathlib import Path

import runs
import tessera
from browser import Browser
from report_test import SECTIONS
from tessera import report

CENTRE = "(() => {{ const b = {}.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; }})()"


class ReportInABrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def open(self, write, *arguments):
        path = Path(self.folder.name) / "report.html"
        write(*arguments, path)
        self.browser.problems.clear()
        self.browser.requests.clear()
        self.browser.open(path.as_uri())
        self.browser.settle()

    def place(self, element):
        self.browser.evaluate(f"{element}.scrollIntoView({{block: 'center'}})")
        self.browser.settle()
        return self.browser.evaluate(CENTRE.format(element))

    def assert_clean(self):
        self.assertEqual(self.browser.problems, [])
        self.assertEqual([url for url in self.browser.requests if not url.startswith(("file:", "data:"))], [])

    def test_every_kind_of_run_opens_without_an_error(self):
        for run in (runs.cosine(), runs.gaussian(), runs.slab(), runs.three_levels(), runs.two_levels(), runs.sod(), runs.vortex()):
            self.open(report.write, run)
            found = self.browser.evaluate("[...document.querySelectorAll('section')].map(s => s.id)")
            self.assertEqual(found, SECTIONS)
            empty = self.browser.evaluate("[...document.querySelectorAll('section')].filter(s => s.offsetHeight < 50).length")
            self.assertEqual(empty, 0)
            self.assertTrue(self.browser.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 100)"))
            charts = self.browser.evaluate("[document.querySelectorAll('.chart').length, document.querySelectorAll('.chart canvas').length]")
            self.assertGreater(charts[0], 0)
            self.assertEqual(charts[0], charts[1])
            self.assert_clean()

    def test_hover_reads_the_curves(self):
        self.open(report.write, runs.cosine())
        left, top, width, height = self.place("report.charts['history-heat.max'].over")
        self.browser.mouse("mouseMoved", left + width / 2, top + height / 2)
        self.browser.settle()
        index, time, value = self.browser.evaluate("(() => { const u = report.charts['history-heat.max']; const n = u.cursor.idx;"
                                                   "return [n, u.data[0][n], u.data[1][n]]; })()")
        table = runs.cosine().history
        self.assertAlmostEqual(value, table["heat.max"][index], delta=1e-8)
        legend = self.browser.evaluate("document.getElementById('history-heat.max').querySelector('.u-legend').innerText")
        self.assertIn(f"{value:.6g}"[:6], legend)
        self.assertIn(f"{time:.4g}"[:5], legend)
        # The cursors of all curves of the history move together.
        self.assertEqual(self.browser.evaluate("report.charts['history-dt'].cursor.idx"), index)
        self.assert_clean()

    def test_curves_zoom_and_come_back(self):
        self.open(report.write, runs.cosine())
        scale = "(() => { const s = report.charts['history-heat.max'].scales.x; return [s.min, s.max]; })()"
        before = self.browser.evaluate(scale)
        left, top, width, height = self.place("report.charts['history-heat.max'].over")
        self.browser.drag(left + width * 0.25, top + height / 2, left + width * 0.5, top + height / 2)
        after = self.browser.evaluate(scale)
        span = before[1] - before[0]
        self.assertAlmostEqual(after[0], before[0] + 0.25 * span, delta=0.02 * span)
        self.assertAlmostEqual(after[1], before[0] + 0.5 * span, delta=0.02 * span)
        self.browser.evaluate("report.charts['history-heat.max'].over.dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))")
        self.browser.settle()
        self.assertEqual(self.browser.evaluate(scale), before)
        self.assert_clean()

    def test_the_timeline_names_slices_and_zooms(self):
        self.open(report.write, runs.gaussian())
        lanes = self.browser.evaluate("report.timeline.lanes.map(l => l.name)")
        self.assertTrue({"rank 0 steps", "rank 0 worker 0", "rank 1 worker 0"} <= set(lanes))
        # The longest task of a worker: hover in its middle.
        lane, middle, name = self.browser.evaluate(
            "(() => { const t = report.timeline; const n = t.lanes.findIndex(l => l.name === 'rank 0 worker 0'); const l = t.lanes[n];"
            "let best = 0; l.lengths.forEach((d, m) => { if (d > l.lengths[best]) best = m; });"
            "return [n, l.starts[best] + l.lengths[best] / 2, t.names[l.names[best]]]; })()")
        left, top, width, height = self.place("report.timeline.plot.over")
        at = self.browser.evaluate(f"report.timeline.plot.valToPos({middle}, 'x')")
        self.browser.mouse("mouseMoved", left + at, top + height * (lane + 0.5) / len(lanes))
        self.browser.settle()
        self.assertFalse(self.browser.evaluate("document.getElementById('tip').hidden"))
        self.assertTrue(self.browser.evaluate("document.getElementById('tip').textContent").startswith(name))
        scale = "(() => { const s = report.timeline.plot.scales.x; return s.max - s.min; })()"
        before, drawn = self.browser.evaluate(scale), self.browser.evaluate("report.timeline.drawnTimes")
        self.browser.drag(left + width * 0.4, top + 20, left + width * 0.6, top + 20)
        self.assertAlmostEqual(self.browser.evaluate(scale), before * 0.2, delta=before * 0.02)
        self.assertGreater(self.browser.evaluate("report.timeline.drawnTimes"), drawn)
        self.browser.mouse("mouseWheel", left + width / 2, top + 20, deltaX=0, deltaY=-120, modifiers=2)
        self.browser.settle()
        self.assertLess(self.browser.evaluate(scale), before * 0.18)
        self.assert_clean()

    def test_the_lanes_have_the_colours_of_their_slices(self):
        self.open(report.write, runs.gaussian())
        # A pixel in the middle of the longest slice on the canvas: that slice's colour and not the white of the page.
        pixel = self.browser.evaluate(
            "(() => { const t = report.timeline, u = t.plot; const l = t.lanes[0]; let best = 0;"
            "l.lengths.forEach((d, m) => { if (d > l.lengths[best]) best = m; });"
            "const x = u.valToPos(l.starts[best] + l.lengths[best] / 2, 'x', true), y = u.valToPos(0.8, 'y', true);"
            "return [...u.ctx.getImageData(Math.round(x), Math.round(y), 1, 1).data]; })()")
        self.assertLess(min(pixel[:3]), 200)

    def test_tables_sort_by_a_click(self):
        self.open(report.write, runs.cosine())
        header = "document.querySelector('#tasks table.sorted th:nth-child(3)')"
        numbers = "[...document.querySelectorAll('#tasks table.sorted td:nth-child(3)')].map(c => +c.dataset.value)"
        for reverse in (True, False):
            self.browser.evaluate(f"{header}.click()")
            found = self.browser.evaluate(numbers)
            self.assertEqual(found, sorted(found, reverse=reverse))
        self.assert_clean()

    def test_a_movie_plays(self):
        path = Path(self.folder.name) / "movie.html"
        code, _, error = runs.call("plot", runs.gaussian().path, "-o", path, "--rate", "20")
        self.assertEqual(code, 0, error)
        self.browser.problems.clear()
        self.browser.open(path.as_uri())
        first = self.browser.evaluate("document.getElementById('picture').src.length")
        self.assertGreater(first, 5000)
        self.assertEqual(self.browser.evaluate("document.getElementById('text').textContent"), "t = 0, step 0")
        self.browser.evaluate("document.getElementById('play').click()")
        self.browser.evaluate("new Promise(done => setTimeout(done, 200))")
        self.browser.evaluate("document.getElementById('play').click()")
        self.assertNotEqual(self.browser.evaluate("document.getElementById('slider').value"), "0")
        self.browser.evaluate("(() => { const s = document.getElementById('slider'); s.value = 2; s.dispatchEvent(new Event('input')); })()")
        self.assertIn("t = 0.25", self.browser.evaluate("document.getElementById('text').textContent"))
        self.assertEqual(self.browser.problems, [])

    def test_a_comparison_opens_without_an_error(self):
        self.open(report.write_comparison, runs.cosine(), runs.cosine())
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('section')].map(s => s.id)"),
                         ["decks", "results", "history", "fields", "costs", "provenance"])
        self.assert_clean()

    def test_numbers_of_any_size_are_drawn(self):
        run = tessera.Run(shutil.copytree(runs.slab().path, Path(self.folder.name) / "sizes"))
        columns = {"still": "5e-13", "tiny": "{n}e-20", "nothing": "{n}e-200", "near.one": "1.00000000{n}", "odd": "0.99999900{n}5", "huge": "{n}e250",
                   "energy.total": "-3e-11", "bad.mass": "nan", "tiny.still": "8.8000000{n}e-20"}
        lines = [",".join(["step", "time", "dt", *columns])]
        for n in range(5):  # picoseconds
            lines.append(",".join([str(n), f"{n}e-12", "1e-12", *(text.format(n=n) for text in columns.values())]))
        (run.path / "history.csv").write_text("\n".join(lines) + "\n")
        self.open(report.write, run)
        self.assert_clean()
        self.assertEqual(self.browser.evaluate("report.charts['history-still'].data[1]"), [5.0] * 5)
        titles = self.browser.evaluate("[...document.querySelectorAll('.u-title')].map(t => t.textContent)")
        self.assertIn("still, in 1e-13", titles)
        self.assertIn("near.one - 1, in 1e-9", titles)
        self.assertIn("tiny.still, in 1e-20", titles)
        self.assertAlmostEqual(self.browser.evaluate("report.charts['history-tiny.still'].data[1][4]"), 8.80000004, delta=1e-10)
        self.assertEqual(self.browser.evaluate("report.charts['history-still'].data[0]"), [0.0, 1.0, 2.0, 3.0, 4.0])


if __name__ == "__main__":
    unittest.main()
