"""Pieces of HTML: tables that can be read without JavaScript, pictures inside of the page."""
import base64
import io
from html import escape  # noqa: F401  (the sections escape with it)

from tessera.field_file import with_unit
from tessera.plots.style import printed, pyplot


def shown(value):
    """A value as people read it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f") if abs(value) >= 100000 else str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def table(columns, rows, sortable=False, differing=()):
    """`columns` are titles; numbers are set to the right. Rows whose number is in `differing` are marked."""
    if not rows:
        return ""
    numeric = [all(isinstance(row[n], (int, float)) or row[n] is None for row in rows) for n in range(len(columns))]
    kind = [' class="number"' if is_number else "" for is_number in numeric]
    head = "".join(f"<th{kind[n]}>{escape(str(title))}</th>" for n, title in enumerate(columns))
    lines = []
    for number, row in enumerate(rows):
        cells = "".join(f"<td{kind[n]}" + (f' data-value="{value}"' if numeric[n] and value is not None else "")
                        + f">{escape(shown(value))}</td>" for n, value in enumerate(row))
        mark = ' class="differs"' if number in differing else ""
        lines.append(f"<tr{mark}>{cells}</tr>")
    style = ' class="sorted"' if sortable else ""
    return f"<table{style}><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def table_with_units(columns, rows, **options):
    """`table` without the column 'unit' where no row has one."""
    at = columns.index("unit")
    if any(row[at] for row in rows):
        return table(columns, rows, **options)
    return table([c for n, c in enumerate(columns) if n != at], [[v for n, v in enumerate(row) if n != at] for row in rows], **options)


def shares(title, times, unit=1e-9, unit_name="s"):
    """A table with a bar for each part of a sum."""
    total = sum(times.values()) or 1
    rows = "".join(
        f'<tr><td>{escape(name)}</td><td class="number">{time * unit:.6g}</td><td class="number">{100 * time / total:.1f} %</td>'
        f'<td class="bar"><div style="width:{100 * time / total:.2f}%"></div></td></tr>' for name, time in times.items())
    return (f'<table><thead><tr><th>{escape(title)}</th><th class="number">{unit_name}</th><th class="number">share</th><th></th>'
            f"</tr></thead><tbody>{rows}</tbody></table>")


def note(text):
    return f'<p class="note">{escape(text)}</p>'


def picture(figure, alt):
    """A matplotlib figure as an image of the page."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=90)
    pyplot().close(figure)
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    return f'<img alt="{escape(alt, quote=True)}" src="data:image/png;base64,{data}">'


def chart(name):
    """The place of a curve; its data are in the page under this name."""
    return f'<div class="chart" id="{escape(name, quote=True)}"></div>'


def pre(text):
    return f"<pre>{escape(text)}</pre>"


class Page:
    """Sections in order, with the data of their curves."""

    def __init__(self, title, lead, time_unit="time"):
        self.title, self.lead, self.sections, self.data = title, lead, [], {"charts": {}}
        self.time_name = printed(with_unit("time", time_unit))

    def section(self, name, title, *content):
        """Adds a section; without any content it says so."""
        body = "\n".join(part for part in content if part) or note("Nothing to show.")
        self.sections.append((name, title, body))

    def chart(self, name, title, x, series, x_name=None, log=False, sync=None, unit=""):
        """Keeps the data of a curve; gives its place. `series` is {name: values}; without `x_name` x is time. `unit` is what
        the values are in."""
        begin = 0.0 if log or tiny_unit(*series.values()) != 1.0 else begin_of(*series.values())
        series = {label: [float(v) - begin for v in values] for label, values in series.items()} if begin else series
        title = f"{title} - {begin:.10g}" if begin else title
        title = printed(with_unit(title, unit))
        power = 1.0 if log else tiny_unit(*series.values())
        x_unit = tiny_unit(x)
        self.data["charts"][name] = {
            "title": in_unit(title, power), "x": numbers(x, x_unit), "x_name": in_unit(x_name or self.time_name, x_unit),
            "log": bool(log), "sync": sync,
            "series": [{"name": label, "values": numbers(values, power)} for label, values in series.items()]}
        return chart(name)


SMALLEST = 1e-6  # uPlot finds no steps between ticks that are far smaller


def begin_of(*arrays):
    """What is taken off numbers that differ by next to nothing: the first of them; else 0.

        >>> begin_of([1.0, 1.00000001]), begin_of([1.0, 1.1]), begin_of([1.0, 1.0])
        (1.0, 0.0, 0.0)
    """
    import math

    finite = [float(v) for values in arrays for v in values if math.isfinite(v)]
    span = max(finite, default=0.0) - min(finite, default=0.0)
    return finite[0] if 0.0 < span < 10 * SMALLEST and abs(finite[0]) > 10 * span else 0.0


def tiny_unit(*arrays):
    """The power of ten that numbers are shown in: 1, but for tiny ones.

        >>> tiny_unit([0.0, 5e-13]), tiny_unit([2.0, 1e-20]), tiny_unit([0.0])
        (1e-13, 1.0, 1.0)
    """
    import math

    largest = max((abs(float(v)) for values in arrays for v in values if math.isfinite(v)), default=0.0)
    return float(f"1e{math.floor(math.log10(largest))}") if 1e-30 < largest < SMALLEST else 1.0


def in_unit(title, unit):
    """
        >>> in_unit("dt", 1e-9), in_unit("dt", 1.0)
        ('dt, in 1e-9', 'dt')
    """
    import math

    return title if unit == 1.0 else f"{title}, in 1e{round(math.log10(unit))}"


def numbers(values, unit=1.0):
    """Floats with as many digits as a screen shows, and null for what is none: pages stay small. An axis has no ticks
    for numbers next to nothing; on curves they are 0."""
    import math

    return [None if not math.isfinite(v) else float(f"{v / unit:.9g}") if abs(v) > 1e-30 else 0.0 for v in map(float, values)]
