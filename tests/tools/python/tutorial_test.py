"""The Python of docs/tutorial/05-results.md gives what the page shows; the commands of the page are a test of their own."""
import doctest
import os
import tempfile
import unittest
from pathlib import Path

import runs

PAGE = runs.ROOT / "docs/tutorial/05-results.md"


class TutorialTest(unittest.TestCase):
    def test_the_page_shows_what_python_says(self):
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "inputs").symlink_to(runs.INPUTS)
            os.chdir(folder)
            try:
                failed, tried = doctest.testfile(str(PAGE), module_relative=False)
            finally:
                os.chdir(before)
        self.assertGreater(tried, 20)
        self.assertEqual(failed, 0)


if __name__ == "__main__":
    unittest.main()
