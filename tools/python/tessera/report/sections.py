"""The sections of a report on one run; each takes what the folder has, and says what is missing."""
import numpy as np

from tessera import plots
from tessera.field_file import unit_shown
from tessera.files import read_text
from tessera.plots.planes import thin_axes
from tessera.plots.style import printed
from tessera.report import html
from tessera.report.timeline import timeline
from tessera.table import units_beside

CONSERVED = ("total", "integral", "mass", "energy", "momentum", "sum")
MOST_FIELDS = 6
MOST_CURVES = 40


def is_conserved_by_name(column):
    """'heat.total' and its kind: quantities whose drift says something."""
    return any(column.rsplit(".", 1)[-1].startswith(word) for word in CONSERVED)


def overview(page, run):
    result, facts = run.result, run.provenance
    start = (facts.get("restarts") or [facts.get("start", {})])[-1]
    status = result.get("status", "goes on" if run.is_active else "no result: it is still running, or was killed")
    good = result.get("exit_code", 0) in (0, 75)
    rows = [[label, result[key]] for label, key in (
        ("reason", "reason"), ("step", "step"), (page.time_name, "time"), ("steps of the last start", "steps_taken"),
        ("wall seconds", "wall_seconds"), ("cells per second", "cells_per_second")) if key in result]
    rows += [["cells, finest counted once", run.fields[-1].leaf_cells()]] if run.fields else []
    rows += [[label, start[key]] for label, key in (("ranks", "ranks"), ("threads of each rank", "threads"),
                                                   ("executor", "executor"), ("started", "started")) if key in start]
    rows += [["components", ", ".join(run.deck.components)], ["restarts", len(facts.get("restarts", []))]]
    units = units_beside(run.path / "history.csv")
    last = [[name, value, printed(unit_shown(units.get(name, "")))] for name, value in result.get("diagnostics", {}).items()]
    page.section("overview", "Overview", f'<p><span class="status{"" if good else " bad"}">{html.escape(str(status))}</span></p>',
                 html.table(["", "value"], [[a, html.shown(b)] for a, b in rows]),
                 "<h3>Diagnostics of the last state</h3>" + html.table_with_units(["diagnostic", "value", "unit"], last) if last else "")


def pictures(page, run, progress=lambda text: None):
    if not run.fields:
        page.section("pictures", "Pictures", html.note("The run has written no fields ([output] in the deck)."))
        return
    files = _three(run.fields)
    exact, parts = run.exact(), []
    names = files[-1].shown
    for name in names[:MOST_FIELDS]:
        progress(f"drawing {name}")
        if len(thin_axes(files[-1])) >= 2:
            figure = plots.line_figure(files, name, exact=exact.get(name))
        else:
            axis = (thin_axes(files[-1]) or ["z"])[0]
            figure = plots.slice_figure(files, name, axis, levels=len(files[-1].levels) > 1, same_range=True)
        parts.append(f"<h3>{html.escape(name)}</h3>" + html.picture(figure, f"{name} at {len(files)} times"))
        if name in exact and len(thin_axes(files[-1])) < 2:
            figure = plots.slice_figure(files[-1:], name, axis, exact=exact[name])
            parts.append(html.picture(figure, f"error of {name} at the last time"))
    more = len(names) - MOST_FIELDS
    parts.append(html.note(f"{more} more field(s): tessera plot {run.path} --field NAME") if more > 0 else "")
    page.section("pictures", "Pictures", *parts)


def _three(series):
    chosen = sorted({0, len(series) // 2, len(series) - 1})
    return [series[n] for n in chosen]


def history(page, run, table, lines):
    """Curves of a table over time; `lines` says what its rows are."""
    places = []
    columns = ["dt", *table.diagnostics]
    for column in columns[:MOST_CURVES]:
        values = table[column]
        log = "error" in column and len(values) > 1 and (values[1:] > 0).all()
        shown = np.where(values > 0, values, np.nan) if log else values
        places.append(page.chart(f"history-{column}", column, table["time"], {column: shown}, log=log, sync="history",
                                 unit=table.unit(column)))
    more = f" {len(columns) - MOST_CURVES} more: tessera plot {run.path} --history NAME." if len(columns) > MOST_CURVES else ""
    page.section("history", "History", html.note(
        f"{len(table)} {lines}. Drag to zoom, double-click to see all; the cursor reads all curves.{more}"),
        f'<div class="grid">{"".join(places)}</div>')


def conserved(page, table):
    names = [name for name in table.diagnostics if is_conserved_by_name(name)]
    if not names or not len(table):
        page.section("conserved", "Conserved quantities", html.note(
            "No column of the history is a total, an integral, a mass or an energy."))
        return
    rows, drifts = [], {}
    for name in names:
        values = table[name]
        scale = abs(values[0]) or np.max(np.abs(values)) or 1.0
        drifts[name] = (values - values[0]) / scale
        rows.append([name, float(values[0]), float(values[-1]), float(values[-1] - values[0]),
                     printed(unit_shown(table.unit(name))), float(np.max(np.abs(drifts[name])))])
    place = page.chart("drift", "change since the start, as a part of the first value", table["time"], drifts)
    page.section("conserved", "Conserved quantities", html.table_with_units(
        ["quantity", "first", "last", "change", "unit", "largest relative drift"], rows), place, html.note(
        "Sources and boundaries change such a quantity rightly; in a closed box it should drift by rounding alone."))


def mesh(page, run):
    if not run.fields:
        page.section("mesh", "Mesh and patches", html.note("The run has written no fields, which have the patches."))
        return
    file = run.fields[-1]
    rows = []
    for level in file.levels:
        sizes = [p.shape for p in level.patches]
        covered = level.cells - sum(int(p.leaves.sum()) for p in level.patches)
        rows.append([level.number, len(level.patches), level.cells, covered, " x ".join(f"{h:g}" for h in level.spacing),
                     " x ".join(str(min(s[a] for s in sizes)) for a in range(3)),
                     " x ".join(str(max(s[a] for s in sizes)) for a in range(3))])
    thin = thin_axes(file)
    content = [html.table(["level", "patches", "cells", "covered", "cell size", "smallest patch", "largest patch"], rows)]
    if len(thin) < 2:
        figure = plots.slice_figure([file], file.names[0], (thin or ["z"])[0], patches=True, levels=True) if file.names else None
        content.append(html.picture(figure, "patches of all levels") if figure is not None else "")
    page.section("mesh", "Mesh and patches", *content)


def no_trace(page, run, name, title):
    page.section(name, title, html.note(f"The run has no trace. Make one: tessera run DECK --trace (this run is {run.path})."))


def trace_sections(page, run):
    titles = (("tasks", "Cost of tasks"), ("timeline", "Timeline"), ("path", "Critical path"), ("waiting", "Waiting"))
    if run.trace_path is None:
        for name, title in titles[:3]:
            no_trace(page, run, name, title)
        waiting_by_statistics(page, run)
        return
    trace = run.trace
    rows = [[row["name"], row["kind"], row["count"], row["total"] * 1e-9, row["mean"] * 1e-3, row["p99"] * 1e-3,
             row["delay_mean"] * 1e-3, row["delay_p99"] * 1e-3] for row in trace.tasks()]
    page.section("tasks", "Cost of tasks", html.table(
        ["name", "kind", "number", "total s", "mean us", "p99 us", "delay mean us", "delay p99 us"], rows, sortable=True),
        html.note("Delay: from ready to started. A click on a title sorts."), launches(trace))
    page.data["timeline"], said = timeline(trace)
    page.section("timeline", "Timeline", html.note(
        said + " Drag to zoom, double-click to see all, Shift and the wheel zoom at the cursor; slices show more under it."),
        '<div id="lanes"></div>')
    page.section("path", "Critical path", html.note("What the run's end waited for, back to its begin: only what is here makes"
                                                    " the run shorter when it gets faster."),
                 html.shares("on the path", trace.critical_path()))
    page.section("waiting", "Waiting", html.note("All time of all workers."),
                 html.shares("time of the workers", trace.worker_times()), _cost_chart(page, run))


def launches(trace):
    """A table of what ran on devices."""
    sums = {}
    for rank in trace.ranks.values():
        for launch in rank.launches:
            row = sums.setdefault((launch["name"], launch["args"].get("kind", "")), [0, 0, 0])
            row[0] += 1
            row[1] += launch["end"] - launch["begin"]
            row[2] += launch["args"].get("bytes", 0)
    rows = [[name, kind, n, time * 1e-9, time / n * 1e-3, size] for (name, kind), (n, time, size) in sums.items()]
    return "<h3>On devices</h3>" + html.table(["launch", "kind", "number", "total s", "mean us", "bytes"], rows,
                                              sortable=True) if rows else ""


COSTS = ("task_seconds", "wait_seconds", "message_seconds", "output_seconds")


def waiting_by_statistics(page, run):
    page.section("waiting", "Waiting", html.note("By statistics.csv, all threads of all ranks; a trace tells what was waited for."),
                 _cost_table(run), _cost_chart(page, run))


def _cost_table(run):
    table = _statistics(run)
    if table is None:
        return html.note("statistics.csv is not there or has no line.")
    return html.shares("time of all threads", {name: float(table[name].sum()) for name in COSTS if name in table}, 1.0)


def _cost_chart(page, run):
    table = _statistics(run)
    if table is None or len(table) < 2:
        return ""
    x = table["step"] if "step" in table else np.arange(len(table))
    return page.chart("costs", "seconds of all threads since the line before", x,
                      {name: table[name] for name in COSTS if name in table}, x_name="step")


def _statistics(run):
    if not (run.path / "statistics.csv").is_file():
        return None
    table = run.statistics
    return table if len(table) else None


def memory(page, run):
    table, content = _statistics(run), []
    if table is not None and "memory_bytes" in table and len(table) > 1:
        content.append(page.chart("memory", "resident memory of all ranks, MiB", table["step"],
                                  {"MiB": table["memory_bytes"] / 2**20}, x_name="step"))
    rows = [[key, value] for key, value in _flat(run.result) if "bytes" in key]
    content.append(html.table(["number of result.json", "value"], rows))
    page.section("memory", "Memory", *content)


def _flat(values, before=""):
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        elif isinstance(value, (int, float, str)):
            yield before + key, value


def warnings(page, run):
    found = [str(w) for w in run.result.get("warnings", [])]
    for entry in run.log:
        if entry.get("event") in ("warning", "error"):
            text = str(entry.get("text", entry))
            found += [text] if text not in found else []
    error = run.path / "error.txt"
    found += [read_text(error)] if error.is_file() else []
    page.section("warnings", "Warnings", *([f'<p class="warning">{html.escape(text)}</p>' for text in found]
                                           or [html.note("None.")]))


def deck(page, run):
    resolved = run.path / "resolved.toml"
    text = read_text(resolved) if resolved.is_file() else ""
    page.section("deck", "Deck", html.pre(run.deck_text), "<h3>Every value, and where it came from</h3>" if text else "",
                 html.pre(text) if text else "")


def provenance(page, run):
    rows = [[key, value] for key, value in _leaves(run.provenance)]
    page.section("provenance", "Provenance", html.table(["", ""], rows))


def _leaves(value, name=""):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{name}.{key}" if name else key)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            yield from _leaves(item, f"{name}[{number}]")
    else:
        yield name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)
