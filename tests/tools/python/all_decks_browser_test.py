"""The report of every shipped deck, as it is and with a trace: small enough, and opened in a browser without an error."""
import subprocess
import tempfile
import unittest
from pathlib import Path

import tessera
from browser import Browser
from report_test import SECTIONS
from tessera import report
from tessera.commands.gallery_command import shipped_decks
from tessera.program import find_program

MOST_BYTES = 5 * 2**20


class AllDecksTest(unittest.TestCase):
    def result_of(self, deck, folder):
        """The run with a trace, or the folder of a job or an ensemble."""
        command = tessera.Deck.read(deck).command
        if command == "run":
            return tessera.run(deck, folder, options=["--trace"], timeout=300)
        done = subprocess.run([find_program(), command, deck, "-q", "--out", folder], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return tessera.load(folder)

    def test_each_report_is_small_and_opens(self):
        decks = shipped_decks()
        self.assertGreater(len(decks), 10)
        with tempfile.TemporaryDirectory() as folder, Browser() as browser:
            for deck in decks:
                with self.subTest(deck=deck.name):
                    found = self.result_of(deck, Path(folder) / f"{deck.parent.name}_{deck.stem}")
                    is_run = isinstance(found, tessera.Run)
                    path = (report.write if is_run else report.write_results)(found, Path(folder) / "report.html")
                    self.assertLess(path.stat().st_size, MOST_BYTES)
                    browser.problems.clear()
                    browser.open(path.as_uri())
                    browser.settle()
                    wanted = SECTIONS if is_run else ["overview", "pictures", "tables", "deck"]
                    self.assertEqual(browser.evaluate("[...document.querySelectorAll('section')].map(s => s.id)"), wanted)
                    self.assertEqual(browser.problems, [])
                    if is_run:
                        self.assertGreater(browser.evaluate("report.timeline.lanes.length"), 1)


if __name__ == "__main__":
    unittest.main()
