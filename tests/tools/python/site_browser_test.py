"""The built site (build/site) in a browser without a server: its search finds a page, nothing fails and nothing is fetched."""
import os
import unittest
from pathlib import Path

import runs
from browser import Browser

SITE = Path(os.environ.get("TESSERA_SITE", runs.ROOT / "build/site"))


class SiteInABrowserTest(unittest.TestCase):
    def test_the_search_finds_a_page(self):
        with Browser() as browser:
            browser.open(f"{(SITE / 'search.html').as_uri()}?q=exit+codes")
            browser.settle()
            found = browser.evaluate("[...document.querySelectorAll('#mkdocs-search-results a')].map(a => a.href)")
            self.assertTrue(any("user/exit_codes.html" in link for link in found), found)
            browser.open(found[0].partition("#")[0])
            self.assertGreater(browser.evaluate("document.body.innerText.length"), 500)
            self.assertEqual(browser.problems, [])

    def test_the_first_page_leads_to_what_users_want(self):
        with Browser() as browser:
            browser.open((SITE / "index.html").as_uri())
            browser.settle()
            links = browser.evaluate("[...document.querySelectorAll('td a')].map(a => a.getAttribute('href'))")
            self.assertIn("gallery/gallery.html", links)
            self.assertIn("reference/deck.html", links)
            titles = browser.evaluate("[...document.querySelectorAll('.wy-menu .caption-text')].map(e => e.textContent)")
            self.assertEqual([titles[0], titles[-1]], ["Tutorial", "Decisions"])
            self.assertLess(titles.index("User"), titles.index("Design"))

    def test_formulas_are_drawn(self):
        with Browser() as browser:
            browser.open((SITE / "components/heat.html").as_uri())
            browser.settle()
            sizes = browser.evaluate("[...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().height)")
            self.assertGreater(len(sizes), 5)
            self.assertGreater(min(sizes), 5)
            self.assertNotIn("$$", browser.evaluate("document.body.innerText"))
            self.assertEqual([url for url in browser.requests if not url.startswith(("file:", "data:"))], [])


if __name__ == "__main__":
    unittest.main()
