"""The sections of a report on the folder of a job or an ensemble."""
import base64

from tessera import plots
from tessera.job_folder import Job
from tessera.report import html

MOST_ROWS = 20
MOST_PICTURE_BYTES = 2**20


def overview(page, found):
    if not isinstance(found, Job):
        rows = [[name, found.row_count(name)] for name in found.tables]
        page.section("overview", "Overview", html.table(["table", "rows"], rows))
        return
    rows = []
    for name, number in found.numbers.items():
        for right in number.expected or [{}]:
            answer = right.get("value")
            shown = "" if answer is None else ("at most " if right["at_most"] else "") + html.shown(answer)
            verdict = "" if answer is None else "yes" if right["as_expected"] else "NO"
            rows.append([name, number.value, number.deviation or None, shown, right.get("room"), verdict])
    wrong = [n for n, row in enumerate(rows) if row[-1] == "NO"]
    good = found.as_expected
    status = "as expected" if good else "NOT as expected"
    page.section("overview", "Overview", f'<p><span class="status{"" if good else " bad"}">{status}</span></p>',
                 html.table(["number", "value", "standard deviation", "right answer", "tolerance", "right"], rows,
                            differing=wrong))


def pictures(page, found):
    parts = [html.picture(plots.result_figure(found), f"results of {found.name}")]
    for path in found.pictures:
        if path.stat().st_size <= MOST_PICTURE_BYTES:
            data = base64.b64encode(path.read_bytes()).decode("ascii")
            parts.append(f"<h3>{html.escape(path.name)}</h3>"
                         f'<img alt="{html.escape(path.name, quote=True)}" src="data:image/png;base64,{data}">')
    page.section("pictures", "Pictures", *parts)


def tables(page, found):
    parts = []
    for name, table in found.tables.items():
        rows = [[_number(text) for text in row] for row in zip(*(values[:MOST_ROWS] for values in table.values()))]
        count = found.row_count(name)
        more = html.note(f"The first {MOST_ROWS} of {count} rows of {name}.csv.") if count > MOST_ROWS else ""
        parts.append(f"<h3>{html.escape(name)}</h3>" + html.table(list(table), rows, sortable=True) + more)
    page.section("tables", "Tables", *parts)


def deck(page, found):
    overrides = found.result.get("overrides", []) if isinstance(found, Job) else []
    said = html.note("With " + ", ".join(map(str, overrides)) + ".") if overrides else ""
    page.section("deck", "Deck", said, html.pre(found.deck.text))


def _number(text):
    try:
        return float(text)
    except ValueError:
        return text
