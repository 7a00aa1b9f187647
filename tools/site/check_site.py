#!/usr/bin/env python3
"""Every link, picture, script and anchor of a built site leads somewhere in it, and no page needs a network.

usage: check_site.py SITE         exit 0: all lead somewhere, 1: prints one line for each that does not
"""
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page refers to, and the anchors that it has."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[key] for key in ("id", "name") if values.get(key))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag in ("img", "script", "iframe", "source") and values.get("src"):
            self.loads.append(values["src"])
        elif tag == "link" and values.get("href") and values.get("rel") in ("stylesheet", "shortcut icon", "icon"):
            self.loads.append(values["href"])


def check(site):
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        for target in page.loads:
            if urlsplit(target).netloc:
                yield f"{name}: loads {target} from a network"
        for target in page.links + page.loads:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or target.startswith("data:"):
                continue
            place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if place.is_dir():
                place = place / "index.html"
            if not place.is_file():
                yield f"{name}: {target} leads nowhere"
            elif parts.fragment and place in pages and unquote(parts.fragment) not in pages[place].anchors:
                yield f"{name}: {target} has no such place on its page"


if __name__ == "__main__":
    FAULTS = list(check(Path(sys.argv[1]).resolve()))
    print("\n".join(FAULTS) or "site: every link, picture and anchor leads somewhere, and nothing is loaded from a network")
    sys.exit(1 if FAULTS else 0)
