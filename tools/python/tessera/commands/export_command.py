"""`tessera export`: fields as an AMReX plotfile, VTK image data, CSV or numpy archive."""
from pathlib import Path

from tessera import export
from tessera.commands import options
from tessera.errors import UsageError

FORMATS = {"plotfile": "", "vti": ".vti", "csv": ".csv", "npz": ".npz"}


def add(subparsers):
    parser = subparsers.add_parser("export", help="Write fields as plotfile (AMReX), vti, csv or npz",
                                   description="Writes fields in the formats of others. plotfile: all levels, for VisIt, yt and "
                                               "ParaView; vti, npz: one grid; csv: one line a cell.")
    parser.add_argument("target", metavar="RUN|FILE", help="a run folder or a field file (.hdf)")
    parser.add_argument("--format", required=True, metavar="FORMAT", help="plotfile, vti, csv or npz")
    parser.add_argument("--field", metavar="NAME", action="append", help="only this field; repeat it for more [default: all]")
    parser.add_argument("--level", metavar="N", help="vti, npz: at the cell size of this level [default: the finest]")
    parser.add_argument("--time", default="last", metavar="WHEN", help="last, first, all, a time, step:N [default: last]")
    parser.add_argument("-o", "--out", metavar="PATH", help="[default: pltNNNNNN, or the name of the field file]")
    parser.set_defaults(run=run)


def run(arguments):
    if arguments.format not in FORMATS:
        raise UsageError(f"there is no format '{arguments.format}'; there is {', '.join(FORMATS)}")
    _, series = options.fields_of(arguments.target)
    files = options.chosen_times(series, arguments.time)
    if arguments.out and len(files) > 1:
        raise UsageError("-o names one output, and several times were asked for; leave it out")
    level = options.whole_number("--level", arguments.level) if arguments.level is not None else None
    if level is not None and arguments.format not in ("vti", "npz"):
        raise UsageError(f"--level is for vti and npz; {arguments.format} has all levels")
    few = [file for file in files if level is not None and not 0 <= level < len(file.levels)]
    if few:  # before the first is written; a mesh that follows the solution has not all levels at all times
        raise UsageError(f"there is no level {level} at step {few[0].step}, where the finest is {len(few[0].levels) - 1}\n"
                         "  fix  choose another --level or --time, or leave --level out; in Python"
                         " run.fields.covering_grids(NAME) has all times at one cell size")
    for number, file in enumerate(files):
        for name in arguments.field or []:
            file.field(name)
        print(f"wrote {write(file, arguments, level)}", flush=True)
        options.progress("export")(number + 1, len(files))
    return 0


def write(file, arguments, level):
    kind = arguments.format
    if kind == "plotfile":
        return export.write_plotfile(file, arguments.out or f"plt{file.step:06d}", arguments.field)
    out = Path(arguments.out or file.path.stem + FORMATS[kind])
    if kind == "vti":
        return export.write_image_data(file, out, arguments.field, level)
    if kind == "npz":
        return export.write_npz(file, out, arguments.field, level)
    return export.write_csv(file, out, arguments.field)
