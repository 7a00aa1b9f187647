"""`tessera report`: one offline HTML page on a run, on field files alone, or on what differs between two runs."""
import sys
from pathlib import Path

from tessera import report
from tessera.commands import options
from tessera.errors import UsageError
from tessera.field_file import FieldFile
from tessera.job_folder import ResultFolder
from tessera.run_folder import Run, Series, load


def add(subparsers):
    parser = subparsers.add_parser("report", help="Write one offline HTML page about a run, field files, or two runs",
                                   description="Writes a page with deck, pictures, history, mesh, costs, timeline and warnings; "
                                               "of field files alone one with what they have, of two runs one with what differs. "
                                               "It needs no network.")
    parser.add_argument("targets", metavar="RUN|FILE", nargs="+",
                        help="a run folder, field files (.hdf, .series or a folder of them); two runs: what differs between them")
    parser.add_argument("-o", "--out", metavar="FILE", help="[default: RUN_report.html in this folder]")
    parser.set_defaults(run=run)


def run(arguments):
    if len(arguments.targets) > 2:
        raise UsageError("report takes one run, or two to compare")
    opened = [load(path) for path in arguments.targets]
    out = Path(arguments.out or "_and_".join(dict.fromkeys(map(_name, arguments.targets))) + "_report.html")
    if len(opened) == 1:
        _write_one(opened[0], arguments.targets[0], out)
    else:
        for path, one in zip(arguments.targets, opened):
            if not isinstance(one, Run):
                raise UsageError(f"{path} is not a run folder, and a report compares those; fields alone are compared by"
                                 " tessera compare A B --norms --picture FILE")
        report.write_comparison(opened[0], opened[1], out, _say)
    print(f"wrote {out}, {out.stat().st_size / 2**20:.2f} MiB: open it in a browser")
    return 0


def _write_one(opened, path, out):
    if isinstance(opened, Run):
        report.write(opened, out, _say)
    elif isinstance(opened, ResultFolder):
        report.write_results(opened, out, _say)
    elif isinstance(opened, (FieldFile, Series)):
        report.write_fields(path, options.fields_of(path)[1], out, _say)
    else:
        raise UsageError(f"{path} is no run folder and has no fields, so there is nothing to report on")


def _name(path):
    """The name of a folder, or of a file up to its first dot."""
    path = Path(path).resolve()
    return path.name if path.is_dir() else path.name.split(".")[0]


def _say(text):
    if sys.stderr.isatty():
        print(f"tessera report: {text} ...", file=sys.stderr, flush=True)
