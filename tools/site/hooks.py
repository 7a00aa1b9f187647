"""Hooks of MkDocs for the site: formulas, links to files outside of docs/, search without a server."""
import json
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.S)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\w$\\])\$([^$\n]+?)\$(?![\w$])", re.S)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
# Folders of pages as MkDocs titles them, and the first page.
ORDER = ["Tutorial", "User", "Components", "Gallery", "Reference", "Design", "Figures"]
LAST = ["Decisions"]
known = {}


def _mathml(formulas):
    """MathML of (text, is a display) pairs, all in one call."""
    missing = [f for f in dict.fromkeys(formulas) if f not in known]
    if missing:
        done = subprocess.run(["node", HERE / "math.js"], input=json.dumps(missing), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"KaTeX refuses a formula: {done.stderr.strip()[:2000]}")
        known.update(zip(missing, json.loads(done.stdout)))
    return known


def _outside_code(markdown, change):
    parts = CODE.split(markdown)
    return "".join(part if n % 2 else change(part) for n, part in enumerate(parts))


def with_formulas(markdown):
    """The page with each $...$ and $$...$$ as MathML; code is left alone."""
    found = []
    _outside_code(markdown, lambda part: found.extend(
        (m.group(1) or m.group(2), m.group(1) is not None) for m in FORMULA.finditer(part)) or part)
    table = _mathml([(text.strip(), display) for text, display in found])

    def replaced(match):
        display = match.group(1) is not None
        text = table[((match.group(1) or match.group(2)).strip(), display)].replace("\n", " ")
        return f"\n\n<div class=\"formula\">{text}</div>\n\n" if display else text

    return _outside_code(markdown, lambda part: FORMULA.sub(replaced, part))


def with_links_inside(markdown, page, pages):
    """Links to files that are no pages of the site become their text."""
    def replaced(match):
        text, target = match.groups()
        path = target.partition("#")[0]
        if "://" in target or not path:
            return match.group(0)
        place = (Path(pages) / page).parent / path
        if place.is_dir() and (place / "README.md").is_file():
            return f"[{text}]({path.rstrip('/')}/README.md)"
        return match.group(0) if place.is_file() and place.resolve().is_relative_to(Path(pages).resolve()) else text

    return _outside_code(markdown, lambda part: LINK.sub(replaced, part))


def on_nav(nav, config, files):
    """For users first; the many decisions come last."""
    nav.items.sort(key=lambda item: ORDER.index(item.title) if item.title in ORDER else len(ORDER))
    nav.items.sort(key=lambda item: (item.title in LAST) - (item.is_page and item.is_homepage))
    nav.pages[:] = [page for item in nav.items for page in _pages(item)]
    for page, before, after in zip(nav.pages, [None, *nav.pages], [*nav.pages[1:], None]):
        page.previous_page, page.next_page = before, after
    return nav


def _pages(item):
    return [page for child in item.children for page in _pages(child)] if item.children else [item]


def on_page_markdown(markdown, page, config, files):
    return with_formulas(with_links_inside(markdown, page.file.src_path, config["docs_dir"]))


def on_post_build(config):
    """MkDocs loads its index by a request, which browsers refuse for files: here it is a script of the page."""
    site = Path(config["site_dir"])
    index = site / "search" / "search_index.json"
    (site / "search" / "index.js").write_text("var tesseraIndex = " + index.read_text(encoding="utf-8") + ";\n", encoding="utf-8")
    (site / "search" / "main.js").write_text((HERE / "search.js").read_text(encoding="utf-8"), encoding="utf-8")
    (site / "404.html").unlink(missing_ok=True)  # for servers: its links begin at their root
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        # Debian's theme has jQuery under the name of another version, and leaves a script of helpers out.
        text = text.replace("js/jquery-3.6.0.min.js", "js/jquery-2.1.1.min.js")
        text = re.sub(r'<script[^>]*src="[^"]*js/theme_extra\.js"[^>]*></script>', "", text)
        up = "../" * (len(page.relative_to(site).parts) - 1)
        scripts = "".join(f'<script src="{up}search/{name}" defer></script>' for name in ("lunr.js", "index.js"))
        text = re.sub(r'(<script[^>]*src="[^"]*search/main\.js"[^>]*>)', lambda m: scripts + m.group(1), text, count=1)
        page.write_text(text, encoding="utf-8")
