"""Jobs and ensembles: what their programs draw, and numbers against the right answers."""
import numpy as np

from tessera.errors import InputError
from tessera.job_folder import Job
from tessera.plots.style import LINES, pyplot


def result_figure(found):
    """Of a `Job` or an `Ensemble`."""
    return job_figure(found) if isinstance(found, Job) else ensemble_figure(found)


def job_figure(job):
    """The pictures that the job has drawn, and how far its numbers are from the right answers."""
    plt = pyplot()
    pictures = job.pictures
    figure, grid = plt.subplots(1, len(pictures) + 1, figsize=(4.6 * (len(pictures) + 1), 4.2), squeeze=False)
    for axes, path in zip(grid[0], pictures):
        axes.imshow(plt.imread(path))
        axes.set_title(path.name, fontsize=10)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_frame_on(True)
        for spine in axes.spines.values():
            spine.set(visible=True, color="#999999")  # a white picture has an edge too
    draw_numbers(grid[0][-1], job)
    figure.suptitle(job.title, fontsize=11)
    return figure


def draw_numbers(axes, job):
    """Each number with a right answer: its distance in units of what it may be away; within the grey band it is right."""
    rows = [(name, number, right) for name, number in job.numbers.items() for right in number.expected]
    if not rows:
        axes.axis("off")
        axes.set_title("\n".join(f"{name} = {number.value:.6g}" for name, number in job.numbers.items()), fontsize=9)
        return
    places = np.arange(len(rows))[::-1]
    axes.axvspan(-1, 1, color="black", alpha=0.08, linewidth=0)
    for at, (_, number, right) in zip(places, rows):
        room = right["room"] or 1.0
        # What has a limit alone is right from 0 to 1.
        away = number.value / (right["value"] or 1.0) if right["at_most"] else (number.value - right["value"]) / room
        axes.plot([np.clip(away, -3, 3)], [at], "o", color=LINES[2] if right["as_expected"] else LINES[1], markersize=7)
    axes.set_yticks(places, [f"{name}\n{number.value:.6g}" + (f" $\\pm$ {number.deviation:.1g}" if number.deviation else "")
                             for name, number, _ in rows], fontsize=8)
    axes.set_xlim(-3.2, 3.2)
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_xlabel("from the right answer, in units of its tolerance")
    axes.grid(True, axis="x")


def ensemble_figure(ensemble):
    """A panel for each stage: a result of its tasks over what was swept last; of an exchange acceptance and energies."""
    plt = pyplot()
    if ensemble.is_exchange:
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.9))
        _exchange(left, ensemble, "pairs", 0, ("acceptance", "exact"), "accepted part of the swaps")
        _exchange(right, ensemble, "temperatures", 0, (1, 2), "mean potential energy")
    else:
        names = [name for name in ensemble.stages if name in ensemble.tables]
        if not names:
            raise InputError(f"{ensemble.path} has no results yet")
        figure, grid = plt.subplots(1, len(names), figsize=(4.8 * len(names), 3.9), squeeze=False)
        for axes, name in zip(grid[0], names):
            _stage(axes, ensemble, name)
    figure.suptitle(ensemble.title, fontsize=11)
    return figure


def _exchange(axes, ensemble, table, x, ys, label):
    names = list(ensemble.tables.get(table, {}))
    if not names:
        raise InputError(f"{ensemble.path} has no {table}.csv yet")
    column = lambda name: ensemble.numbers(table, names[name] if isinstance(name, int) else name)  # noqa: E731
    axes.plot(column(x), column(ys[0]), "o", color=LINES[0], label="measured")
    axes.plot(column(x), column(ys[1]), "k--", linewidth=0.9, label="exact")
    axes.set_xlabel(names[x].replace("_", " "))
    axes.set_ylabel(label)
    axes.grid(True)
    axes.legend(fontsize=8)


def _stage(axes, ensemble, name):
    results = ensemble.results_of(name)
    shown = "largest_drift" if "largest_drift" in results else results[0] if results else "code"
    x = list(ensemble.about(name).get("sweep", {}))[-1:] or ["index"]
    at, values = ensemble.numbers(name, x[0]), ensemble.numbers(name, shown)
    axes.plot(at, values, "o", color=LINES[0], markersize=5)
    good = values[np.isfinite(values)]
    if good.size and (good > 0).all() and good.max() > 20 * good.min():
        axes.set_yscale("log")
    axes.set_title(f"stage {name}, {int(np.isfinite(values).sum())} of {len(values)} tasks", fontsize=10)
    axes.set_xlabel(x[0])
    axes.set_ylabel(shown.replace("_", " "))
    axes.grid(True)
