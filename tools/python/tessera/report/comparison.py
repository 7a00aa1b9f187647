"""What differs between two runs: values of the decks, results, histories, fields, costs, provenance."""
import numpy as np

from tessera import plots
from tessera.difference import compare_fields, require_one_mesh
from tessera.errors import UsageError
from tessera.plots.planes import thin_axes
from tessera.report import html
from tessera.report.sections import _flat, _leaves


def comparison_page(first, second, progress=lambda text: None):
    """The page of two runs."""
    names = labels(first, second)
    page = html.Page(f"{names[0]} and {names[1]}", f"What differs between {first.path} and {second.path}",
                     first.deck.unit("time"))
    decks(page, first, second, names)
    results(page, first, second, names)
    histories(page, first, second, names)
    progress("comparing fields")
    fields(page, first, second, names)
    progress("reading traces")
    costs(page, first, second, names)
    provenances(page, first, second, names)
    return page


def labels(first, second):
    if first.name != second.name:
        return first.name, second.name
    return str(first.path), str(second.path)


def rows_of(left, right, only_differing=True):
    """[key, left, right] of two dicts, in the order of the left; a missing one is None."""
    keys = [*left, *[key for key in right if key not in left]]
    rows = [[key, left.get(key), right.get(key)] for key in keys]
    return [row for row in rows if row[1] != row[2]] if only_differing else rows


def decks(page, first, second, names):
    left, right = (dict(_leaves(run.deck.values)) for run in (first, second))
    rows = rows_of(left, right)
    page.section("decks", "Decks", html.table(["key", *names], rows) if rows else html.note(
        "All values of the two decks, defaults included, are the same."))


def results(page, first, second, names):
    left, right = (dict(_flat(run.result)) for run in (first, second))
    rows = rows_of(left, right, only_differing=False)
    both = [[key, a, b, _change(a, b)] for key, a, b in rows]
    differing = [n for n, (_, a, b, _) in enumerate(both) if a != b]
    page.section("results", "Results", html.table(["number of result.json", *names, "change"],
                                                 [[k, html.shown(a), html.shown(b), c] for k, a, b, c in both],
                                                 differing=differing))


def _change(a, b):
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (a, b))
    if not numbers or a == b:
        return "" if a == b else "differs"
    return f"{100 * (b - a) / abs(a):+.3g} %" if a else f"{b - a:+.3g}"


def histories(page, first, second, names):
    tables = [run.history for run in (first, second)]
    places = []
    shared = [name for name in ["dt", *tables[0].diagnostics] if name in tables[1]]
    for column in shared[:25]:
        times = np.union1d(tables[0]["time"], tables[1]["time"])
        series = {}
        for name, table in zip(names, tables):
            at = dict(zip(table["time"], table[column]))
            series[name] = [at.get(t, float("nan")) for t in times]
        places.append(page.chart(f"history-{column}", column, times, series, sync="history", unit=tables[0].unit(column)))
    alone = [[name, names[n]] for n in (0, 1) for name in tables[n].diagnostics if name not in tables[1 - n]]
    page.section("history", "History", f'<div class="grid">{"".join(places)}</div>',
                 "<h3>Columns of one run alone</h3>" + html.table(["column", "run"], alone) if alone else "")


def fields(page, first, second, names):
    if not first.fields or not second.fields:
        page.section("fields", "Fields", html.note("One of the runs has written no fields."))
        return
    left, right = first.fields[-1], second.fields[-1]
    try:
        require_one_mesh(left, right)
    except UsageError as different:
        page.section("fields", "Fields", html.note(str(different).splitlines()[0] + "."))
        return
    content = [html.note(f"{names[0]}: {plots.style.time_text(left)}; {names[1]}: {plots.style.time_text(right)}.")]
    rows = []
    for name in [n for n in left.names if n in right.names]:
        found = compare_fields(left, right, name)
        rows.append([name, found.norms["l1"], found.norms["l2"], found.norms["max"], found.relative, found.cells])
        if len(content) < 5 and found.norms["max"] > 0:
            thin = thin_axes(left)
            axis = (thin or ["z"])[0]
            if len(thin) < 2:
                content.append(html.picture(found.figure(axis), f"{name} of the second run minus that of the first"))
    content.insert(1, html.table(["field", "mean |difference|", "root mean square", "largest", "largest, relative", "cells"],
                                 rows))
    page.section("fields", "Fields", *content)


def costs(page, first, second, names):
    if first.trace_path is None or second.trace_path is None:
        page.section("costs", "Costs", html.note("To compare tasks, both runs need a trace: tessera run DECK --trace."))
        return
    tables = [{row["name"]: row for row in run.trace.tasks()} for run in (first, second)]
    keys = [*tables[0], *[key for key in tables[1] if key not in tables[0]]]
    total = lambda n, key: tables[n][key]["total"] * 1e-9 if key in tables[n] else None  # noqa: E731
    mean = lambda n, key: tables[n][key]["mean"] * 1e-3 if key in tables[n] else None  # noqa: E731
    rows = [[key, total(0, key), total(1, key), mean(0, key), mean(1, key)] for key in keys]
    waits = [run.trace.worker_times() for run in (first, second)]
    shares = [[key, *[100.0 * w.get(key, 0) / sum(w.values()) for w in waits]] for key in {**waits[0], **waits[1]}]
    page.section("costs", "Costs", html.table(
        ["task", f"{names[0]}: total s", f"{names[1]}: total s", f"{names[0]}: mean us", f"{names[1]}: mean us"], rows,
        sortable=True), "<h3>Time of the workers, %</h3>" + html.table(["", *names], shares))


def provenances(page, first, second, names):
    left, right = (dict(_leaves(run.provenance)) for run in (first, second))
    page.section("provenance", "Provenance", html.table(["", *names], rows_of(left, right)) or html.note("The same."))
