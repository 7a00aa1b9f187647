"""Pictures of fields, lines and histories; every function takes and gives matplotlib objects.

    from tessera import load, plots
    figure = plots.slice_figure([load("cosine").fields[-1]], "temperature", axis="z", at=0.5)
    figure.savefig("temperature.png")
"""
from tessera.plots.history import history_figure
from tessera.plots.jobs import ensemble_figure, job_figure, result_figure
from tessera.plots.lines import line_figure
from tessera.plots.movie import write_movie
from tessera.plots.planes import draw_plane, slice_figure
from tessera.plots.three_planes import three_planes_figure

__all__ = ["draw_plane", "ensemble_figure", "history_figure", "job_figure", "line_figure", "result_figure",
           "slice_figure", "three_planes_figure", "write_movie"]
