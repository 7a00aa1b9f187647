"""The slices of a trace for the timeline of the page: lanes, and no more than a browser draws at once."""

MOST_SLICES = 40000
SHOWN = ("step", "task", "fill", "pack", "join", "send", "receive", "reduction", "output", "device", "idle")


def timeline(trace, most=MOST_SLICES):
    """(data of the page, sentence that says which steps it has).

    All lanes of the last steps that fit; of runs of plans (`steps`) all. Lanes are those of the file, in its order:
    process, then thread.
    """
    names_of_lanes = {(event["pid"], event["tid"]): event["args"]["name"] for event in trace.events
                      if event.get("ph") == "M" and event.get("name") == "thread_name"}
    slices = [event for event in trace.events if event.get("ph") == "X" and event.get("cat") in SHOWN]
    steps_of_runs = {number: run.step for rank in trace.ranks.values() for number, run in rank.runs.items()}
    first = first_step(slices, steps_of_runs, most)
    begin = min(event["ts"] for event in slices)
    since = min((event["ts"] for event in slices if event["cat"] == "step" and _step(event, steps_of_runs) >= first),
                default=begin)
    lanes, names = {}, {}
    for event in sorted(slices, key=lambda e: e["ts"]):
        step = _step(event, steps_of_runs)
        if event["cat"] != "step" and (step < first if step is not None else event["ts"] < since):
            continue
        number = names.setdefault(event["args"]["plan"] if event["cat"] == "step" else event["name"], len(names))
        lanes.setdefault((event["pid"], event["tid"]), []).append((event["ts"] - begin, event["dur"], number, step))
    several = len({pid for pid, _ in lanes}) > 1
    packed = [_packed((f"rank {pid} " if several else "") + names_of_lanes.get((pid, tid), f"thread {tid}"), rows)
              for (pid, tid), rows in sorted(lanes.items())]
    last = trace.steps[-1]
    said = f"All of steps {trace.steps[0]} to {last}." if first <= trace.steps[0] else (
        f"Steps {first} to {last} in full (the trace has {trace.steps[0]} to {last}, too many slices for a"
        " page; double-click shows where they lie); the whole trace opens in https://ui.perfetto.dev.")
    return {"lanes": packed, "names": list(names), "since": (since - begin) * 1e-6 if first > trace.steps[0] else 0.0}, said


def first_step(slices, steps_of_runs, most):
    """The first of the last steps whose slices are `most` together."""
    counts = {}
    for event in slices:
        step = _step(event, steps_of_runs)
        if step is not None and event["cat"] != "step":
            counts[step] = counts.get(step, 0) + 1
    total, first = 0, max(counts, default=0)
    for step in sorted(counts, reverse=True):
        total += counts[step]
        if total > most and step != first:
            break
        first = step
    return first


def _step(event, steps_of_runs):
    args = event.get("args", {})
    if "step" in args:
        return args["step"]
    return steps_of_runs.get(args.get("run"))


def _packed(name, rows):
    starts, at = [], 0
    for begin, _, _, _ in rows:
        now = round(begin * 1000)
        starts.append(now - at)
        at = now
    return {"name": name, "starts": starts, "lengths": [round(d * 1000) for _, d, _, _ in rows],
            "names": [n for _, _, n, _ in rows], "steps": [s if s is not None else -1 for _, _, _, s in rows]}
