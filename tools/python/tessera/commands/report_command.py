"""`tessera report`: one offline HTML page on a run, or on what differs between two."""
import sys
from pathlib import Path

from tessera import report
from tessera.errors import UsageError
from tessera.job_folder import ResultFolder
from tessera.run_folder import Run, load


def add(subparsers):
    parser = subparsers.add_parser("report", help="Write one offline HTML page about a run, or about two",
                                   description="Writes a page with deck, pictures, history, mesh, costs, timeline and warnings; "
                                               "of two runs a page with what differs. It needs no network.")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="a run folder; two: what differs between them")
    parser.add_argument("-o", "--out", metavar="FILE", help="[default: RUN_report.html in this folder]")
    parser.set_defaults(run=run)


def run(arguments):
    if len(arguments.runs) > 2:
        raise UsageError("report takes one run, or two to compare")
    runs = [load(path) for path in arguments.runs]
    for path, opened in zip(arguments.runs, runs):
        if isinstance(opened, ResultFolder):
            if len(runs) > 1:
                raise UsageError(f"{path} is the folder of a job or an ensemble, and a report compares runs; give it alone")
        elif not isinstance(opened, Run):
            raise UsageError(f"{path} is not a run folder; pictures of single field files: tessera plot {path}")
    names = [opened.name for opened in runs]
    out = Path(arguments.out or f"{'_and_'.join(dict.fromkeys(names))}_report.html")
    if len(runs) == 1 and isinstance(runs[0], ResultFolder):
        report.write_results(runs[0], out, _say)
    elif len(runs) == 1:
        report.write(runs[0], out, _say)
    else:
        report.write_comparison(runs[0], runs[1], out, _say)
    print(f"wrote {out}, {out.stat().st_size / 2**20:.2f} MiB: open it in a browser")
    return 0


def _say(text):
    if sys.stderr.isatty():
        print(f"tessera report: {text} ...", file=sys.stderr, flush=True)
