"""`tessera compare --norms`: how much two states differ by norms, with tolerances by field and a picture."""
from pathlib import Path

from tessera.commands import options
from tessera.difference import compare_fields
from tessera.errors import UsageError, nearest

COLUMNS = ("field", "l1", "l2", "max", "relative", "tolerance", "verdict", "at")


def add(subparsers):
    parser = subparsers.add_parser("compare", help="Norms of the difference of two runs or field files, with a picture",
                                   description="With --norms, --tolerance or --picture: norms over the common refinement of two "
                                               "states; patches, ranks and refined regions may differ. Without them the program "
                                               "compares value by value: tessera compare --exact A B.",
                                   epilog="Exit codes: 0 within the tolerances, 1 not, 2 usage, 3 missing or damaged input.")
    parser.add_argument("a", metavar="A", help="a run folder or a field file (.hdf)")
    parser.add_argument("b", metavar="B", help="another one of the same mesh")
    parser.add_argument("--norms", action="store_true", help="mean, root mean square and largest difference of each field")
    parser.add_argument("--tolerance", metavar="[FIELD=]NUMBER", action="append", default=[],
                        help="largest difference that counts as none [default: 0]; by field where it is named")
    parser.add_argument("--field", metavar="NAME", action="append", help="only this field; repeat it for more [default: all]")
    parser.add_argument("--time", default="last", metavar="WHEN", help="of both: last, first, a time, step:N [default: last]")
    parser.add_argument("--picture", metavar="FILE", help="draw the difference of the first field")
    parser.add_argument("--slice", metavar="AXIS=AT", help="of the picture, for example z=0.5")
    parser.add_argument("--json", action="store_true", help="the table as JSON")
    parser.set_defaults(run=run)


def run(arguments):
    states = []
    for target in (arguments.a, arguments.b):
        _, series = options.fields_of(target)
        files = options.chosen_times(series, arguments.time)
        if len(files) != 1:
            raise UsageError("compare takes one time; leave out --time all")
        states.append(files[0])
    first, second = states
    names = arguments.field or [name for name in first.names if name in second.names]
    for name in names:
        options.field_name(first, name)
        options.field_name(second, name)
    tolerances = tolerances_of(arguments.tolerance, names)
    found = [compare_fields(first, second, name) for name in names]
    rows = [{"field": f.name, **f.norms, "relative": f.relative, "tolerance": tolerances[f.name],
             "verdict": "same" if f.norms["max"] <= tolerances[f.name] else "different",
             "at": ",".join(f"{v:.6g}" for v in f.place) if f.norms["max"] else ""} for f in found]
    options.print_table(rows, COLUMNS, arguments.json)
    alone = sorted(set(first.names) ^ set(second.names)) if not arguments.field else []
    if alone and not arguments.json:
        print(f"of one side alone: {', '.join(alone)}")
    if arguments.picture and found:
        _draw(found[0], arguments)
    elif arguments.picture:
        raise UsageError(f"{arguments.a} and {arguments.b} have no field of one name, so there is no difference to draw\n"
                         "  fix  leave --picture out")
    return 1 if alone or any(row["verdict"] == "different" for row in rows) else 0


def tolerances_of(texts, names):
    """{field: number}."""
    found = dict.fromkeys(names, 0.0)
    for text in sorted(texts, key=lambda t: "=" in t):  # what names a field comes last
        name, equals, value = text.rpartition("=")
        number = options.number("--tolerance", value, infinite=True)
        if number < 0:
            raise UsageError(f"the tolerance {text} is negative")
        if equals and name not in found:
            raise UsageError(f"--tolerance names the field '{name}'" + nearest(name, names))
        found.update({name: number} if equals else dict.fromkeys(names, number))
    return found


def _draw(difference, arguments):
    from tessera.plots.planes import thin_axes
    from tessera.plots.style import save

    thin = thin_axes(difference.first)
    axis, at = options.plane(arguments.slice) if arguments.slice else (thin[0] if thin else "z", None)
    save(difference.figure(axis, at), Path(arguments.picture))
    if not arguments.json:
        print(f"wrote {arguments.picture}")
