"""`tessera gallery`: runs decks and makes a page with a picture of each."""
import subprocess
from pathlib import Path

from tessera.commands import options
from tessera.deck import Deck
from tessera.errors import InputError, OutputError
from tessera.job_folder import Job, ResultFolder, result_folder
from tessera.plots import line_figure, result_figure, slice_figure
from tessera.plots.planes import thin_axes
from tessera.plots.style import save
from tessera.program import ROOT, RunFailed, find_program, run as run_deck
from tessera.run_folder import Run

MOST_TIMES = 3


def add(subparsers):
    parser = subparsers.add_parser("gallery", help="Run decks and make a page with a picture of each",
                                   description="Runs each deck (once: what is there is used again), draws its first field, and writes "
                                               "gallery.md with the pictures beside it.")
    parser.add_argument("decks", metavar="DECK", nargs="*", help="[default: all decks below inputs/]")
    parser.add_argument("--runs", metavar="DIR", default="gallery_runs", help="the folder of the runs [default: gallery_runs]")
    parser.add_argument("-o", "--out", metavar="DIR", default="gallery", help="the folder of the page [default: gallery]")
    parser.add_argument("--set", metavar="TABLE.KEY=VALUE", action="append", default=[], help="replace a value of all decks")
    parser.set_defaults(run=run)


def shipped_decks():
    """All decks below inputs/."""
    return sorted((ROOT / "inputs").glob("*/*.toml"))


def run(arguments):
    decks = [Path(deck) for deck in arguments.decks] or shipped_decks()
    if not decks:
        raise InputError("there are no decks below inputs/; name some")
    out, runs = Path(arguments.out), Path(arguments.runs)
    try:
        out.mkdir(parents=True, exist_ok=True)
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise OutputError(f"{problem.filename} cannot be made: {problem.strerror}") from problem
    lines = ["# Gallery", "", "A picture for each deck, made by `./tessera gallery`.", ""]
    for number, path in enumerate(decks):
        name = f"{path.parent.name}_{path.stem}"
        opened = _run(path, runs / name, [word for text in arguments.set for word in ("--set", text)])
        picture = draw(opened, out / f"{name}.png")
        lines += entry(path, opened, picture)
        options.progress("deck")(number + 1, len(decks))
    (out / "gallery.md").write_text("\n".join(lines), encoding="utf-8")
    print(f"wrote {out / 'gallery.md'}, {len(decks)} deck(s)")
    return 0


def _run(deck, folder, extra):
    command = Deck.read(deck).command
    if command == "run":
        return Run(folder) if (folder / "result.json").is_file() else run_deck(deck, folder, options=extra)
    found = result_folder(folder) if folder.is_dir() else None
    if isinstance(found, Job) and (folder / "result.json").is_file():
        return found
    # What an ensemble has done already is not done again.
    words = [find_program(), command, str(deck), "-q", "--out", str(folder), *(extra if command == "job" else [])]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise RunFailed(done.returncode, done.stdout, None)
    return result_folder(folder)


def draw(opened, path):
    """The first field: first, middle and last time of a slice; all times of a line. Of a job or ensemble what it found."""
    if isinstance(opened, ResultFolder):
        return save(result_figure(opened), path)
    files = opened.fields
    if not files:
        return None
    chosen = sorted({0, len(files) // 2, len(files) - 1})[:MOST_TIMES]
    states = [files[n] for n in chosen]
    name = states[-1].names[0]
    if len(thin_axes(states[-1])) >= 2:
        figure = line_figure(states, name, exact=opened.exact().get(name))
    else:
        figure = slice_figure(states, name, (thin_axes(states[-1]) or ["z"])[0], same_range=True, levels=True)
    return save(figure, path)


def entry(path, opened, picture):
    """The lines of the page on one deck: title, what its first comment says, picture, command."""
    comment = []
    for line in Deck.read(path).text.splitlines():
        if not line.startswith("#"):
            break
        comment.append(line.lstrip("# ").rstrip())
    said = " ".join(comment).split("  ")[0]
    place = path.resolve()
    shown = place.relative_to(ROOT) if place.is_relative_to(ROOT) else path
    title = (opened.deck.title if isinstance(opened, Run) else opened.title) or path.stem
    lines = [f"## {title}", "", said, ""]
    if picture is not None:
        lines += [f"![{title}]({picture.name})", ""]
    return [*lines, f"`./tessera {Deck.read(path).command} {shown}`", ""]
