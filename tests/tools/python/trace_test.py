"""Traces read in Python against the program's own summary, number by number."""
import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import runs
import tessera
from tessera.program import find_program
from tessera.report.timeline import timeline

UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}


def summary(run):
    """{section: {name: nanoseconds}} of `tessera trace summary`."""
    text = subprocess.run([find_program(), "trace", "summary", run.path], capture_output=True, text=True, check=True).stdout
    found, section = {}, None
    for line in text.splitlines():
        if line.startswith(("Critical path", "Time of the workers")):
            section = found.setdefault(line.split(",")[0].rstrip(":"), {})
        elif line.lstrip().startswith("Task "):
            section = None
        row = re.match(r"  (\S.*?) {2,}([\d.e+-]+) (s|ms|us|ns) +[\d.]+ %$", line)
        if section is not None and row:
            section[row.group(1)] = float(row.group(2)) * UNITS[row.group(3)]
    return found, text


class TraceTest(unittest.TestCase):
    def test_sums_are_those_of_the_program(self):
        for run in (runs.cosine(), runs.gaussian(), runs.three_levels(), runs.sedov()):
            expected, text = summary(run)
            trace = run.trace
            for title, found in (("Critical path", trace.critical_path()), ("Time of the workers", trace.worker_times())):
                self.assertTrue(expected[title])
                self.assertEqual(set(found), set(expected[title]), text)
                for name, time in expected[title].items():
                    self.assertAlmostEqual(found[name] / time, 1.0, delta=6e-4, msg=f"{title}: {name}")  # four digits shown
            for row in trace.tasks():
                self.assertRegex(text, rf"(?m)^  {re.escape(row['name'])} +{row['count']} ")

    def test_they_are_the_same_to_the_nanosecond(self):
        for run in (runs.cosine(), runs.gaussian(), runs.three_levels(), runs.sedov()):
            done = subprocess.run([find_program(), "trace", "summary", run.path, "--json"], capture_output=True, text=True,
                                  check=True)
            expected, trace = json.loads(done.stdout), run.trace
            for key, found in (("critical_path", trace.critical_path()), ("time_of_the_workers", trace.worker_times())):
                self.assertEqual({row["name"]: row["nanoseconds"] for row in expected[key]}, found)
            rows = {row["name"]: row for row in trace.tasks()}
            self.assertEqual(set(rows), {row["name"] for row in expected["tasks"]})
            for row in expected["tasks"]:
                for key in ("count", "total", "p99", "delay_p99", "kind"):
                    self.assertEqual(rows[row["name"]][key], row[key], f"{row['name']}: {key}")
                self.assertAlmostEqual(rows[row["name"]]["delay_mean"], row["delay_mean"], delta=1e-6 * row["delay_mean"] + 1e-9)

    def test_the_time_of_the_workers_is_all_there_is(self):
        trace = runs.cosine().trace
        run = list(trace.ranks[0].runs.values())
        self.assertAlmostEqual(sum(trace.worker_times().values()), run[-1].end - run[0].begin, delta=2000)
        self.assertLessEqual(sum(trace.critical_path().values()), trace.wall + 1)

    def test_one_step_can_be_looked_at_alone(self):
        trace = tessera.Trace(runs.cosine().trace_path)
        trace.keep_step(3)
        self.assertEqual(trace.steps, [3])
        with self.assertRaises(tessera.UsageError):
            trace.keep_step(10**6)

    def test_a_timeline_keeps_the_last_steps_whole(self):
        trace = runs.gaussian().trace
        whole, said = timeline(trace)
        self.assertIn("All of steps", said)
        slices = sum(len(lane["starts"]) for lane in whole["lanes"])
        shapes = [e for e in trace.events if e.get("ph") == "X"]
        self.assertEqual(slices, len(shapes))
        short, said = timeline(trace, most=slices // 4)
        self.assertIn("in full", said)
        last = trace.steps[-1]
        per_step = lambda data: sum(lane["steps"].count(last) for lane in data["lanes"])  # noqa: E731
        self.assertEqual(per_step(short), per_step(whole))
        self.assertLess(sum(len(lane["starts"]) for lane in short["lanes"]), slices // 2)
        self.assertEqual({lane["name"].split()[1] for lane in whole["lanes"]} >= {"0", "1"}, True)

    def test_what_is_no_trace_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.json"
            for text in ("{", '{"traceEvents": []}', "[]"):
                path.write_text(text)
                with self.assertRaises(tessera.InputError) as caught:
                    tessera.load(path)
                self.assertRegex(str(caught.exception), "trace.json is (damaged|not a trace of Tessera): ")
        with self.assertRaises(tessera.InputError) as caught:
            runs.slab().trace
        self.assertIn("tessera run DECK --trace", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
