"""`tessera plot`: slices, lines, three planes and histories as pictures and movies."""
import re
import time
from pathlib import Path

from tessera.commands import options
from tessera.errors import InputError, UsageError
from tessera.job_folder import ResultFolder
from tessera.run_folder import Run, load
from tessera.table import Table


def add(subparsers):
    parser = subparsers.add_parser("plot", help="Draw fields and histories of runs or field files",
                                   description="Draws a run folder or a field file: in 2-D and 3-D a slice, in 1-D a line; of a "
                                               "job or an ensemble what it has found.")
    parser.add_argument("target", metavar="RUN|FILE", nargs="+",
                        help="a run folder, a field file (.hdf) or a history (.csv); several with --history")
    parser.add_argument("--field", metavar="NAME", help="which field; NAME:x or NAME:0 is one component, NAME:mag their length; "
                                                        "of a gas also pressure, speed, mach, vorticity, schlieren ...; =FORMULA "
                                                        "is computed: '=gradient(temperature)' [default: the first]")
    parser.add_argument("--slice", metavar="AXIS=AT", help="the plane, for example z=0.5 [default: through the middle]")
    parser.add_argument("--line", metavar="A:B", help="values along a line: 0,0.5,0.5:1,0.5,0.5 or x or x@y=0.2,z=0.3")
    parser.add_argument("--three", action="store_true", help="three planes through the middle, in space")
    parser.add_argument("--history", metavar="COLUMN", nargs="*", help="time series of these columns [default: all]")
    parser.add_argument("--time", default=None, metavar="WHEN",
                        help="last, first, all, a time, step:N, or several with commas [default: last; all for movies]")
    parser.add_argument("--error", action="store_true", help="the difference to the exact solution that the deck gives")
    parser.add_argument("--log", action="store_true", help="logarithmic colours or axis")
    parser.add_argument("--range", metavar="LOW:HIGH", help="of the colours or the axis")
    parser.add_argument("--same-range", action="store_true", help="one range for all times (movies have it always)")
    parser.add_argument("--colours", metavar="NAME", help="a colour map of matplotlib [default: viridis; RdBu_r around 0]")
    parser.add_argument("--patches", action="store_true", help="outlines of all patches")
    parser.add_argument("--levels", action="store_true", help="outlines of the refined levels")
    parser.add_argument("--rate", default="8", metavar="N", help="pictures a second of a movie [default: 8]")
    parser.add_argument("--watch", action="store_true", help="draw again whenever the run writes, until it ends")
    parser.add_argument("-o", "--out", metavar="FILE", help=".png, .svg, .pdf, .mp4 or .html [default: in this folder]")
    parser.set_defaults(run=run)


def run(arguments):
    """One picture; with --watch again and again."""
    if not arguments.watch:
        print(f"wrote {draw(arguments)}")
        return 0
    folder = load(arguments.target[0])
    if not isinstance(folder, Run):
        raise UsageError("--watch needs a run folder, since only runs go on")
    seen = None
    while True:
        state = _state(folder.path)
        if state != seen:
            try:
                print(f"wrote {draw(arguments)}", flush=True)
                seen = state
            except InputError as waiting:  # a young run has written nothing yet
                if (folder.path / "result.json").is_file():
                    raise
                print(f"waiting: {str(waiting).splitlines()[0]}", flush=True)
        if (folder.path / "result.json").is_file() and seen == _state(folder.path):
            return 0
        time.sleep(0.5)


def _state(path):
    """What changes when a run writes."""
    names = ("history.csv", "out/fields.hdf.series", "result.json")
    return tuple((path / name).stat().st_mtime_ns if (path / name).exists() else 0 for name in names)


def draw(arguments):
    """Draws what was asked for; gives the path of the picture."""
    from tessera import plots
    from tessera.plots.style import save

    if arguments.history is not None or arguments.target[0].endswith(".csv"):
        names = [Path(target).name for target in arguments.target]
        labels = names if len(set(names)) == len(names) else arguments.target
        tables = {label: _table(target) for label, target in zip(labels, arguments.target)}
        first = load(arguments.target[0])
        time_unit = first.deck.unit("time") if isinstance(first, Run) else "time"
        figure = plots.history_figure(tables, arguments.history, arguments.log, _title(first), time_unit)
        return save(figure, arguments.out or f"{_stem(arguments)}_history.png")
    views = [f"--{name}" for name in ("slice", "line", "three") if getattr(arguments, name)]
    if len(views) > 1:
        raise UsageError(f"{' and '.join(views)} are different pictures; choose one")
    opened = load(arguments.target[0])
    if isinstance(opened, ResultFolder):
        return save(plots.result_figure(opened), arguments.out or f"{opened.name}.png")
    if len(arguments.target) > 1:
        raise UsageError("several runs can be drawn together with --history alone; to see how their fields differ:"
                         " tessera compare A B --picture FILE")
    folder, series = options.fields_of(arguments.target[0])
    name = options.field_name(series[-1], arguments.field)
    out = arguments.out or f"{_stem(arguments)}_{re.sub(r'[^0-9A-Za-z.-]+', '_', name).strip('_')}.png"
    is_movie = Path(out).suffix in (".mp4", ".html")
    when = arguments.time or ("all" if is_movie else "last")
    files = options.chosen_times(series, when)
    view = View(arguments, folder, files, name)
    if is_movie:
        rate = options.number("--rate", arguments.rate)
        if rate <= 0:
            raise UsageError("--rate has to be above 0")
        view.fix_range()
        return plots.write_movie(out, (view.figure([file]) for file in files),
                                 [plots.style.time_text(file) for file in files], rate, view.title or name,
                                 options.progress("frame"))
    if len(files) > 12 and not view.is_line:
        raise UsageError(f"{len(files)} times do not fit into one picture; write a movie (-o {Path(out).stem}.mp4 or .html),"
                         " or choose: --time 0,0.5,1")
    return save(view.figure(files), out)


def _table(target):
    opened = load(target)
    if isinstance(opened, Table):
        return opened
    if isinstance(opened, Run):
        return opened.history
    raise UsageError(f"{target} has no history; give a run folder or a .csv file")


def _title(opened):
    return opened.deck.title if isinstance(opened, Run) else ""


def _stem(arguments):
    path = Path(arguments.target[0]).resolve()
    return path.name if path.is_dir() else path.name.split(".")[0]


class View:
    """What a picture shows, at any time: a slice, a line or three planes of one field."""

    def __init__(self, arguments, folder, files, name):
        from tessera.plots.planes import thin_axes

        self.arguments, self.files, self.name = arguments, files, name
        self.title = folder.deck.title if folder is not None else ""
        thin = thin_axes(files[0])
        self.is_line = arguments.line is not None or (arguments.slice is None and not arguments.three and len(thin) >= 2)
        exact = folder.exact().get(name) if folder is not None and (arguments.error or self.is_line) else None
        if arguments.error and exact is None:
            why = "the deck gives none (key `exact`)" if folder is not None else "field files alone have no deck; give the run folder"
            raise UsageError(f"--error needs an exact solution of {name}, and {why}")
        self.exact = exact
        self.limits = options.limits(arguments.range)
        if arguments.log and self.limits and self.limits[0] <= 0:
            raise UsageError(f"--log shows numbers above 0, and the range {arguments.range} begins below; write for example 1e-6:1")
        self.axis, self.at = options.plane(arguments.slice) if arguments.slice else (thin[0] if thin else "z", None)

    def fix_range(self):
        """One range for all frames of a movie."""
        from tessera.plots.planes import plane_of, usual_colours
        from tessera.plots.style import ColourRange

        if self.limits is not None:
            return
        if self.is_line:
            values = [file.line(self.name, *self._ends(file)).values for file in self.files]
        elif self.arguments.three:
            values = [file.slice(self.name, axis).values for file in self.files for axis in "xyz"]
        else:
            error = self.exact if self.arguments.error else None
            values = [plane_of(file, self.name, self.axis, self.at, error).values for file in self.files]
        shared = ColourRange(values, self.arguments.log, None, self.arguments.colours or usual_colours(self.name))
        self.limits = (shared.low, shared.high)
        self.arguments.colours = shared.colours

    def _ends(self, file):
        from tessera.plots.lines import default_line

        return options.line_ends(file, self.arguments.line) if self.arguments.line else default_line(file)

    def figure(self, files):
        from tessera import plots

        wanted = self.arguments
        if self.is_line:
            start, end = self._ends(files[0])
            return plots.line_figure(files, self.name, start, end, self.exact, wanted.log, self.limits, self.title)
        if wanted.three:
            if len(files) > 1:
                raise UsageError("--three shows one time; choose it with --time, or write a movie")
            return plots.three_planes_figure(files[0], self.name, None, wanted.log, self.limits, wanted.colours, self.title)
        return plots.slice_figure(files, self.name, self.axis, self.at, wanted.log, wanted.patches, wanted.levels,
                                  self.limits, wanted.same_range, wanted.colours, self.exact if wanted.error else None,
                                  self.title)
