"""Small runs of shipped decks for the tests, each made once; the program is that of $TESSERA_PROGRAM or of the build."""
import io
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import tessera
from tessera.commands.parser import main

ROOT = Path(__file__).resolve().parents[3]
INPUTS = ROOT / "inputs"
FOLDER = tempfile.TemporaryDirectory(prefix="tessera-python-tests-")


def _run(name, deck, *options, ranks=1, **values):
    return tessera.run(INPUTS / deck, Path(FOLDER.name) / name, ranks, ["--threads", "1", *options], timeout=120, **values)


@cache
def cosine():
    """3-D, exact solution, traced."""
    return _run("cosine", "heat/cosine.toml", "--trace", **{"grid.cells": [16, 16, 16], "grid.patch_size": [8, 8, 8]})


@cache
def gaussian():
    """2-D, two ranks, traced."""
    return _run("gaussian", "advection/gaussian.toml", "--trace", ranks=2,
                **{"grid.cells": [32, 32, 1], "grid.patches": [2, 2, 1], "time.end": 0.25, "output.every": 0.125})


@cache
def slab():
    """1-D, exact solution, no trace."""
    return _run("slab", "heat/dirichlet_slab.toml")


@cache
def three_levels():
    return _run("three_level", "levels/three_level.toml", "--trace")


@cache
def two_levels():
    """3-D with a refined level."""
    return _run("two_level", "levels/two_level.toml")


@cache
def sod():
    """A gas in 1-D: density, momentum and energy as components of one variable."""
    return _run("sod", "euler/sod.toml")


@cache
def vortex():
    """A gas in 2-D with a refined level, traced."""
    return _run("vortex", "euler/vortex_two_level.toml", "--trace", **{"time.end": 0.25, "output.every": 0.25})


@cache
def forward_step():
    """A gas with solid cells."""
    return _run("forward_step", "euler/forward_step.toml", **{"time.end": 0.1, "output.every": 0.1})


@cache
def sedov():
    """A gas on three levels that take steps of their own, traced."""
    return _run("sedov", "euler/sedov_three_level.toml", "--trace", **{"time.max_steps": 2})


@cache
def taylor_green():
    """Flow at low Mach numbers: velocities on faces, an exact solution by field."""
    return _run("taylor_green", "lowmach/taylor_green.toml", **{"grid.cells": [16, 16, 1], "time.end": 0.1, "output.every": 0.05})


@cache
def bump():
    """A mesh of three levels that follows the solution, traced: other patches at each state."""
    return _run("bump", "advection/bump_following.toml", "--trace")


@cache
def spot():
    """A mesh that follows the solution and has fewer levels in the end than at first; SI units."""
    units = {"units.length": "m", "units.time": "s", "units.temperature": "K"}
    return _run("spot", "heat/spot_following.toml", **{**units, "history.every_steps": 1})


def call(*arguments):
    """(exit code, what was printed, what was said on standard error) of a command of Python's."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main([str(a) for a in arguments])
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), err.getvalue()
