"""Traces of runs (docs/user/tracing.md): what each worker did when, summed up as `tessera trace summary` does."""
import gc
from bisect import bisect_left, bisect_right
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

import numpy as np

from tessera.errors import InputError, UsageError
from tessera.files import expand, parse_json, read_bytes

KINDS = {"task": "task", "fill": "fill", "pack": "send", "send": "send", "join": "reduce", "reduction": "reduce",
         "receive": "receive"}
LATE = "ready, not started"


@dataclass(slots=True)
class Node:
    """One node of a step's graph in one run of a plan; nanoseconds. Worker -1: it took no worker's time."""

    kind: str = "task"
    name: str = ""
    worker: int = -1
    begin: int = -1
    end: int = -1
    done: int = -1
    on_device: bool = False
    ready: int = 0
    after: int = -1  # the node that made it ready; -1: none; -2: the length of the step
    peer: int = -1
    tag: int = -1
    item: int = -1


@dataclass
class PlanRun:
    """One run of a step plan on one rank; nanoseconds."""

    plan: str = ""
    step: int = 0
    workers: int = 1
    begin: int = 0
    executed: int = 0
    end: int = 0
    nodes: dict = field(default_factory=dict)


@dataclass
class Rank:
    """All runs of a rank, by number; what it did between steps; its launches on devices."""

    runs: dict = field(default_factory=dict)
    spans: list = field(default_factory=list)     # (name, begin, end), while the trace is read; then Spans
    launches: list = field(default_factory=list)  # event dicts with "begin" and "end"


class Spans:
    """What a rank did between steps, (name, begin, end); long runs have thousands, so places in them are searched for.

        >>> Spans([("fields", 2, 9), ("history", 4, 5), ("history", 12, 14)]).time_in(3, 13)
        7
    """

    def __init__(self, spans):
        self._spans = sorted(spans, key=lambda span: span[1])
        self._begins = [begin for _, begin, _ in self._spans]
        self._latest = list(accumulate((end for _, _, end in self._spans), max))  # end of all up to each

    def time_in(self, begin, end):
        """How long of begin..end the rank wrote; what lies inside another span counts once."""
        total, counted = 0, begin
        for _, first, last in self._spans[bisect_right(self._latest, begin):bisect_left(self._begins, end)]:
            first, last = max(first, counted), min(last, end)
            if last > first:
                total += last - first
                counted = last
        return total

    def end_before(self, until):
        """The latest end, at most `until`, of those that began before it; None without one."""
        count = bisect_left(self._begins, until)
        return min(self._latest[count - 1], until) if count else None


def _nanoseconds(value):
    return round(float(value) * 1000.0)


@contextmanager
def without_collection():
    """Millions of events hold no cycles, and looking for some takes as long as reading them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Trace:
    """A trace read back; `events` are those of the file, `ranks` the same by rank, run and node.

        trace = run.trace
        trace.tasks()           # rows: name, kind, count, total, mean, p99, delay
        trace.worker_times()    # {'tasks': ns, 'waits: message': ns, ...}, adds up to all time of all workers
        trace.critical_path()   # {'Heat::advance': ns, '(message)': ns, ...}
    """

    def __init__(self, path):
        self.path = Path(path)
        try:
            if not self.path.exists():
                raise InputError(f"there is no trace {self.path}\n  fix  make one: tessera run DECK --trace")
            raw = read_bytes(self.path)
            text = expand(raw, self.path) if raw[:2] == b"\x1f\x8b" else raw
            with without_collection():
                self._read(parse_json(text, dict, self.path)["traceEvents"])
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as problem:
            raise InputError(f"{self.path} is not a trace of Tessera: {problem}\n  fix  make one: tessera run DECK --trace"
                             ) from problem
        if not self.ranks:
            raise InputError(f"{self.path} is not a trace of Tessera: it has no steps")

    def _read(self, events):
        self.events = events
        self.ranks = {}
        for event in self.events:
            if event.get("ph") == "X":
                self._take(event)
        for rank in self.ranks.values():
            rank.runs = {number: run for number, run in sorted(rank.runs.items()) if run.plan}
            rank.spans = Spans(rank.spans)
        self.ranks = {number: rank for number, rank in sorted(self.ranks.items()) if rank.runs}

    def _take(self, event):
        rank = self.ranks.setdefault(event["pid"], Rank())
        category, args = event.get("cat", ""), event.get("args", {})
        begin = _nanoseconds(event["ts"])
        end = begin + _nanoseconds(event["dur"])
        if category == "step":
            run = rank.runs.setdefault(args["run"], PlanRun())
            run.plan, run.step, run.workers = args["plan"], args["step"], max(1, int(args["workers"]))
            run.begin, run.end, run.executed = begin, end, _nanoseconds(args["executed"])
        elif category == "output":
            rank.spans.append((event["name"], begin, end))
        elif category == "device":
            rank.launches.append({**event, "begin": begin, "end": end})
        elif category in KINDS:
            run = rank.runs.setdefault(args["run"], PlanRun())
            self._take_node(event, category, args, begin, end, run.nodes.setdefault(args["node"], Node()))

    @staticmethod
    def _take_node(event, category, args, begin, end, node):
        node.kind = KINDS[category]
        node.peer, node.tag = args.get("peer", node.peer), args.get("tag", node.tag)
        node.item, node.after = args.get("reduction", node.item), args.get("after", node.after)
        if "ready" in args:
            node.ready = _nanoseconds(args["ready"])
        if category in ("send", "receive", "reduction"):  # what goes on without a worker
            node.name = node.name or event["name"]
            if node.begin < 0:
                node.begin = node.end = begin
            node.done = end
            return
        node.name, node.worker, node.begin, node.end = event["name"], event["tid"] - 1, begin, end
        node.on_device = "done" in args
        node.done = max(node.done, end, _nanoseconds(args["done"]) if node.on_device else 0)

    @property
    def steps(self):
        """All steps that the trace has, in order."""
        return sorted({run.step for rank in self.ranks.values() for run in rank.runs.values()})

    @property
    def wall(self):
        """From the first step's begin to the last one's end; nanoseconds."""
        runs = [run for rank in self.ranks.values() for run in rank.runs.values()]
        return max(run.end for run in runs) - min(run.begin for run in runs)

    def keep_step(self, step):
        """Leaves only the runs of this step."""
        if step not in self.steps:
            raise UsageError(f"step {step} is not in the trace; it has {self.steps[0]} to {self.steps[-1]}")
        for rank in self.ranks.values():
            rank.runs = {number: run for number, run in rank.runs.items() if run.step == step}

    def tasks(self):
        """All that ran on workers, by name: rows as dicts, the most expensive first; nanoseconds."""
        samples = {}
        for rank in self.ranks.values():
            for run in rank.runs.values():
                for node in run.nodes.values():
                    if node.worker >= 0 and not node.on_device:
                        samples.setdefault(node.name, (node.kind, [], []))
                        samples[node.name][1].append(node.end - node.begin)
                        samples[node.name][2].append(max(0, node.begin - node.ready))
        rows = [{"name": name, "kind": kind, "count": len(times), "total": sum(times), "mean": float(np.mean(times)),
                 "p99": _p99(times), "delay_mean": float(np.mean(delays)), "delay_p99": _p99(delays)}
                for name, (kind, times, delays) in sorted(samples.items())]
        return sorted(rows, key=lambda row: -row["total"])

    def worker_times(self):
        """All time of all workers by what they did or waited for; nanoseconds."""
        times = {}
        for rank in self.ranks.values():
            before = None
            for run in rank.runs.values():
                if before is not None:
                    self._between(rank, before.end, run.begin, run.workers, times)
                _RunTimes(run, times).add()
                before = run
        return {name: time for name, time in sorted(times.items(), key=lambda item: -item[1]) if time}

    @staticmethod
    def _between(rank, begin, end, workers, times):
        writing = rank.spans.time_in(begin, end)
        times["waits: output"] = times.get("waits: output", 0) + writing * workers
        times["between steps"] = times.get("between steps", 0) + (end - begin - writing) * workers

    def critical_path(self):
        """The time of the critical path by what it was spent on; nanoseconds."""
        from tessera.critical_path import PathWalk

        times = PathWalk(self).walk()
        return {name: time for name, time in sorted(times.items(), key=lambda item: -item[1]) if time}


def _p99(values):
    return sorted(values)[(len(values) * 99 + 99) // 100 - 1]


class _RunTimes:
    """Adds the time of the workers in one run up."""

    def __init__(self, run, times):
        self.run, self.times = run, times

    def add(self):
        run = self.run
        waited_for = [node for _, node in sorted(run.nodes.items()) if node.done <= run.executed]
        last = max(waited_for, key=lambda node: node.done, default=None)
        for worker in range(run.workers):
            nodes = [node for node in run.nodes.values() if node.worker == worker]
            self._worker(sorted(nodes, key=lambda node: node.begin), last)

    def _spend(self, name, begin, end):
        if end > begin:
            self.times[name] = self.times.get(name, 0) + end - begin

    @staticmethod
    def _wait(node):
        if node is not None and node.on_device:
            return "waits: device"
        if node is None or node.kind in ("task", "fill"):
            return "waits: nothing ready"
        return "waits: reduction" if node.kind == "reduce" else "waits: message"

    def _worker(self, nodes, last):
        run, free = self.run, self.run.begin
        work = {"task": "tasks", "fill": "halos"}
        for node in nodes:
            ready = min(max(node.ready, free), max(free, node.begin))
            self._spend("waits: reduction" if node.after == -2 else self._wait(run.nodes.get(node.after)), free, ready)
            self._spend(LATE, ready, node.begin)
            self._spend(work.get(node.kind, "packing and joining"), node.begin, node.end)
            free = max(free, node.end)
        complete = free if last is None else min(max(last.done, free), max(run.executed, free))
        self._spend(self._wait(last), free, complete)
        self._spend(LATE, complete, run.executed)
        self._spend("waits: reduction", max(free, run.executed), run.end)
