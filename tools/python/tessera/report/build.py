"""Puts a page together: sections, data and the library of its curves in one file."""
import json
import os
from html import escape
from pathlib import Path

from tessera.errors import OutputError
from tessera.job_folder import Job
from tessera.report import comparison, fields, results, sections
from tessera.report.html import Page

HERE = Path(__file__).resolve().parent


def report_data(run, progress=lambda text: None):
    """The page of one run, not yet written."""
    page = Page(run.deck.title or run.name, f"Run {run.name}: {', '.join(run.deck.components)}", run.deck.unit("time"))
    sections.overview(page, run)
    sections.pictures(page, run, progress)
    if (run.path / "history.csv").is_file():
        table = run.history
        sections.history(page, run, table, "lines of history.csv")
        sections.conserved(page, table)
    sections.mesh(page, run)
    progress("reading the trace")
    sections.trace_sections(page, run)
    sections.memory(page, run)
    sections.warnings(page, run)
    sections.deck(page, run)
    sections.provenance(page, run)
    return page


def write(run, path, progress=lambda text: None):
    """Writes the report on a run as one file; gives its path."""
    return save(report_data(run, progress), path)


def results_data(found, progress=lambda text: None):
    """The page of a job or an ensemble, not yet written."""
    kind = f"Job {found.name}: {found.program}" if isinstance(found, Job) else f"Ensemble {found.name}"
    page = Page(found.title, kind)
    results.overview(page, found)
    progress("drawing")
    results.pictures(page, found)
    results.tables(page, found)
    results.deck(page, found)
    return page


def write_results(found, path, progress=lambda text: None):
    """Writes the report on a job or an ensemble as one file; gives its path."""
    return save(results_data(found, progress), path)


def fields_data(files, progress=lambda text: None):
    """The page of field files alone, not yet written; `files` is a `fields.FieldFiles`."""
    page = Page(files.name, "Field files without the folder of their run", files.fields[-1].time_unit)
    fields.fill(page, files, progress)
    return page


def write_fields(path, states, out, progress=lambda text: None):
    """Writes the report on field files alone, a Series or a list of `FieldFile`, as one file; gives its path."""
    return save(fields_data(fields.FieldFiles(path, states), progress), out)


def write_comparison(first, second, path, progress=lambda text: None):
    """Writes what differs between two runs as one file."""
    return save(comparison.comparison_page(first, second, progress), path)


def text_of(page):
    """The whole page. The same run gives the same bytes."""
    nav = " ".join(f'<a href="#{name}">{escape(title)}</a>' for name, title, _ in page.sections)
    body = "\n".join(f'<section id="{name}"><h2>{escape(title)}</h2>\n{content}\n</section>'
                     for name, title, content in page.sections)
    data = json.dumps(page.data, separators=(",", ":"), sort_keys=True).replace("</", "<\\/")
    parts = {"TITLE": escape(page.title), "LEAD": escape(page.lead), "NAV": nav, "SECTIONS": body, "DATA": data,
             "UPLOT_CSS": _piece("vendor/uPlot.min.css"), "CSS": _piece("page.css"),
             "UPLOT_JS": _piece("vendor/uPlot.iife.min.js"), "TIMELINE_JS": _piece("timeline.js"), "JS": _piece("page.js")}
    # In one pass, so that nothing in a deck can be taken for a place of the page.
    pieces = _piece("page.html").split("@")
    return "".join(parts[piece] if n % 2 else piece for n, piece in enumerate(pieces))


def save(page, path):
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        unfinished.write_text(text_of(page), encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as problem:
        raise OutputError(f"{path} cannot be written: {problem.strerror}\n  fix  choose another place with -o") from problem
    return path


def _piece(name):
    return (HERE / name).read_text(encoding="utf-8")
