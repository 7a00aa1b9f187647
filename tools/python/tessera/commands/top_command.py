"""`tessera top`: a run that goes on, in the terminal, from its folder alone; also one on another machine."""
import json
import shutil
import sys
import time
from datetime import datetime, timezone

import numpy as np

from tessera.commands import options
from tessera.errors import InputError, UsageError
from tessera.field_file import unit_shown
from tessera.plots.style import printed
from tessera.run_folder import Run, load

BARS = "▁▂▃▄▅▆▇█"
ROUNDING = 1e-12


def add(subparsers):
    parser = subparsers.add_parser("top", help="Show a running run in the terminal, from its folder",
                                   description="Shows step, time, rate, remaining time, costs and diagnostics of a run until it ends. "
                                               "It reads the run folder alone, so the run may be on another machine.")
    parser.add_argument("folder", metavar="RUN", help="a run folder")
    parser.add_argument("--once", action="store_true", help="show the state once and end")
    parser.add_argument("--interval", default="2", metavar="SECONDS", help="between looks [default: 2]")
    parser.add_argument("--json", action="store_true", help="the state as JSON, once")
    parser.set_defaults(run=run)


def run(arguments):
    opened = load(arguments.folder)
    if not isinstance(opened, Run):
        raise UsageError(f"{arguments.folder} is not a run folder")
    interval = options.number("--interval", arguments.interval)
    if interval <= 0:
        raise UsageError("--interval has to be above 0")
    if arguments.json:
        print(json.dumps(state_of(opened), indent=1))
        return 0
    on_terminal = sys.stdout.isatty()
    while True:
        state = state_of(Run(opened.path))
        text = shown(state, shutil.get_terminal_size().columns if on_terminal else None)
        print(("\033[H\033[2J" if on_terminal and not arguments.once else "") + text, flush=True)
        if arguments.once or state["ended"]:
            return 0
        time.sleep(interval)


def state_of(run):
    """All that is shown, as plain values."""
    state = {"run": str(run.path), "title": run.deck.title, "time_unit": run.deck.unit("time"), "ended": bool(run.result),
             "status": run.result.get("status") or ("goes on" if run.is_active else "no process holds the folder: it was killed,"
                                                    " or has just ended"),
             "reason": run.result.get("reason", ""), "warnings": 0, "fields": len(run.fields)}
    for entry in run.log:
        state["warnings"] += entry.get("event") == "warning"
        if entry.get("event") == "start":
            state.update(started=entry.get("time"), cells=entry.get("cells"), ranks=entry.get("ranks"), threads=entry.get("threads"))
        if entry.get("event") == "checkpoint":
            state["checkpoint"] = entry.get("step")
    try:
        table = run.history
    except InputError:
        return state
    if len(table):
        state.update(step=int(table.last("step")), time=table.last("time"), dt=table.last("dt"), **progress_of(run, table),
                     diagnostics={name: {**series(table[name]), "unit": table.unit(name)} for name in table.diagnostics})
        # A mesh that follows the solution has other cells now than at the start, those under finer ones included.
        counts = [name for name in table.diagnostics if name.startswith("mesh.cells_level_")]
        if counts:
            state["cells_by_level"] = [int(table.last(name)) for name in counts]
    state.update(costs_of(run))
    return state


def series(values):
    finite = values[np.isfinite(values)]
    return {"last": float(values[-1]), "min": float(finite.min()) if finite.size else None,
            "max": float(finite.max()) if finite.size else None, "bars": spark(values)}


def spark(values, width=32):
    """The course of a series in one line of text.

        >>> spark(np.array([0.0, 1.0, 2.0, 7.0]))
        '▁▂▃█'
        >>> spark(np.array([3.0, 3.0000000000000004]))
        '▁▁'
    """
    values = values[np.isfinite(values)]
    if len(values) > width:
        values = values[np.linspace(0, len(values) - 1, width).astype(int)]
    if not len(values):
        return ""
    span = max(np.ptp(values), ROUNDING * np.abs(values).max()) or 1.0  # what is kept to rounding is a flat line
    return "".join(BARS[min(7, int((v - values.min()) / span * 7.999))] for v in values)


def progress_of(run, table):
    """{'part', 'remaining_seconds', 'steps_per_second'} as far as the deck and statistics.csv tell."""
    found = {}
    end, most = run.deck.get("time.end"), run.deck.get("time.max_steps")
    parts = [table.last("time") / end if end else 0.0, table.last("step") / most if most else 0.0]
    found["part"] = min(1.0, max(parts)) if end or most else None
    costs = _costs(run)
    if costs is not None and len(costs) > 1:
        recent = slice(max(1, len(costs) - 10), None)
        steps = costs["step"][-1] - costs["step"][recent.start - 1]
        seconds = float(costs["wall_seconds"][recent].sum())
        if seconds > 0 and steps > 0:
            found["steps_per_second"] = steps / seconds
            first, last = table["time"][max(0, len(table) - 11)], table.last("time")
            if end and last > first and not run.result:
                found["remaining_seconds"] = max(0.0, (end - last) / ((last - first) / seconds))
            elif most and not run.result:
                found["remaining_seconds"] = max(0.0, (most - table.last("step")) / (steps / seconds))
    return found


def _costs(run):
    try:
        return run.statistics
    except InputError:
        return None


def costs_of(run):
    table = _costs(run)
    if table is None or not len(table):
        return {}
    sums = {name: float(table[name].sum()) for name in table.names if name.endswith("_seconds") and name != "wall_seconds"}
    total = sum(sums.values()) or 1.0
    return {"memory_bytes": int(table.last("memory_bytes")), "wall_seconds": float(table["wall_seconds"].sum()),
            "shares": {name[:-len("_seconds")]: value / total for name, value in sums.items()}}


def shown(state, width=None):
    """The state as text; lines of diagnostics are cut at the width of a terminal."""
    lines = [options.colour(f"{state['run']}  {state['title']}", "1"),
             f"{state['status']}" + (f": {state['reason']}" if state["reason"] else "")]
    if "cells" in state:
        cells = f"{state['cells']:,}".replace(",", "\u202f")
        if "cells_by_level" in state:
            cells = " + ".join(f"{n:,}".replace(",", "\u202f") for n in state["cells_by_level"])
        lines.append(f"{cells} cells, {state['ranks']} rank(s) of {state['threads']} thread(s), started {age(state['started'])}")
    if "step" in state:
        part = state.get("part")
        bar = "" if part is None else "[" + ("#" * int(part * 30)).ljust(30) + f"] {100 * part:.0f} %  "
        left = state.get("remaining_seconds")
        unit = "" if state["time_unit"] == "time" else f" {state['time_unit']}"
        lines.append(bar + f"step {state['step']}  t = {state['time']:.6g}{unit}  dt = {state['dt']:.3g}{unit}"
                     + (f"  {state['steps_per_second']:.3g} steps/s" if "steps_per_second" in state else "")
                     + (f"  remaining {clock(left)}" if left is not None else ""))
    if "shares" in state:
        lines.append("time: " + ", ".join(f"{name} {100 * part:.0f} %" for name, part in state["shares"].items())
                     + f"   memory {state['memory_bytes'] / 2**20:.0f} MiB")
    lines.append(f"{state['fields']} field file(s), newest checkpoint "
                 + (f"of step {state['checkpoint']}" if "checkpoint" in state else "none") + f", {state['warnings']} warning(s)")
    names = state.get("diagnostics", {})
    wide = max([len(name) for name in names], default=0)
    for name, about in names.items():
        low, high = (options.shown(about[key]) for key in ("min", "max"))
        unit = unit_shown(about["unit"])
        unit = unit and f" {printed(unit)}"
        lines.append(f"  {name.ljust(wide)}  {options.shown(about['last']):>12}  {about['bars']}  {low} .. {high}{unit}"[:width])
    return "\n".join(lines)


def clock(seconds):
    """
        >>> clock(3725)
        '1:02:05'
    """
    seconds = int(round(seconds))
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def age(started):
    try:
        begin = datetime.fromisoformat(started.replace("Z", "+00:00"))
    except (AttributeError, ValueError):
        return "?"
    return clock((datetime.now(timezone.utc) - begin).total_seconds()) + " ago"
