"""The check of the built site can fail, and its search finds pages from files."""
import importlib.util
import tempfile
import unittest
from pathlib import Path

import runs

SPEC = importlib.util.spec_from_file_location("check_site", runs.ROOT / "tools/site/check_site.py")
check_site = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check_site)


class SiteTest(unittest.TestCase):
    def faults(self, **pages):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in pages.items():
                path = Path(folder) / f"{name.replace('__', '/')}.html"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(check_site.check(Path(folder).resolve()))

    def test_links_and_anchors_that_are_there_pass(self):
        self.assertEqual(self.faults(a='<h1 id="top">x</h1><a href="b/c.html#here">', b__c='<i id="here"><a href="../a.html#top">'
                                     '<a href="#here"><a href="https://elsewhere.invalid/x">'), [])

    def test_each_kind_of_fault_is_found(self):
        for text, said in (('<a href="none.html">', "none.html leads nowhere"), ('<a href="#none">', "no such place"),
                           ('<img src="none.png">', "none.png leads nowhere"),
                           ('<script src="https://cdn.invalid/x.js"></script>', "from a network"),
                           ('<link rel="stylesheet" href="//cdn.invalid/x.css">', "from a network")):
            found = self.faults(a=text)
            self.assertEqual(len(found), 1, found)
            self.assertIn(said, found[0])


if __name__ == "__main__":
    unittest.main()
