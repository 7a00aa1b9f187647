"""The report of every shipped deck, as it is and with a trace: small enough, and opened in a browser without an error."""
import tempfile
import unittest
from pathlib import Path

import tessera
from browser import Browser
from report_test import SECTIONS
from tessera import report
from tessera.commands.gallery_command import shipped_decks

MOST_BYTES = 5 * 2**20


class AllDecksTest(unittest.TestCase):
    def test_each_report_is_small_and_opens(self):
        decks = shipped_decks()
        self.assertGreater(len(decks), 10)
        with tempfile.TemporaryDirectory() as folder, Browser() as browser:
            for deck in decks:
                with self.subTest(deck=deck.name):
                    run = tessera.run(deck, Path(folder) / f"{deck.parent.name}_{deck.stem}", options=["--trace"], timeout=300)
                    path = report.write(run, Path(folder) / "report.html")
                    self.assertLess(path.stat().st_size, MOST_BYTES)
                    browser.problems.clear()
                    browser.open(path.as_uri())
                    browser.settle()
                    self.assertEqual(browser.evaluate("[...document.querySelectorAll('section')].map(s => s.id)"), SECTIONS)
                    self.assertEqual(browser.problems, [])
                    self.assertGreater(browser.evaluate("report.timeline.lanes.length"), 1)


if __name__ == "__main__":
    unittest.main()
