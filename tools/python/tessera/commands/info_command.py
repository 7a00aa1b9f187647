"""`tessera info --json`: what is in a run folder, a field file or a checkpoint, for programs."""
import json
import math

import numpy as np

from tessera.checkpoint import Checkpoint
from tessera.errors import UsageError
from tessera.field_file import FieldFile
from tessera.job_folder import Ensemble, Job
from tessera.run_folder import Run, load
from tessera.table import units_beside


def add(subparsers):
    parser = subparsers.add_parser("info", help="Show what is in a run folder, a field file or a checkpoint, as JSON",
                                   description="With --json: what is in a run folder, a field file or a checkpoint, as one JSON "
                                               "object. Without it the program says it for people, and verifies checkpoints.")
    parser.add_argument("target", metavar="RUN|FILE|CHECKPOINT", help="a run folder, a field file (.hdf) or a checkpoint")
    parser.add_argument("--json", action="store_true", required=True, help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments):
    opened = load(arguments.target)
    for kind, describe in ((Run, of_run), (FieldFile, of_fields), (Checkpoint, of_checkpoint), (Job, of_job),
                           (Ensemble, of_ensemble)):
        if isinstance(opened, kind):
            print(json.dumps(_plain(describe(opened)), indent=1))
            return 0
    raise UsageError(f"{arguments.target} is no run folder, field file or checkpoint")


def of_run(found):
    """The result with the states that the folder holds."""
    files = [{"time": time, "file": str(path.relative_to(found.path))} for time, path in zip(found.fields.times, found.fields.paths)]
    planes = {name: [str(path.relative_to(found.path)) for path in series.paths] for name, series in found.planes.items()}
    states = [{"step": c.step, "time": c.time, "ranks": c.ranks, "bytes": c.bytes, "folder": str(c.path.relative_to(found.path))}
              for c in found.checkpoints]
    rows = found.analysis if (found.path / "analysis.hdf").is_file() else None
    arrays = {name: {"kind": rows.kind(name), "field": rows.field(name), "unit": rows.unit(name), "rows": len(rows),
                     "columns": len(rows.columns(name))} for name in (rows.names if rows else [])}
    return {"kind": "run", "title": found.deck.title, "components": found.deck.components, "active": found.is_active,
            "result": found.result or None, "checkpoints": states, "fields": files, "planes": planes, "analysis": arrays,
            "units": units_beside(found.path / "history.csv")}


def of_job(found):
    """The result, and the files beside it."""
    return {"kind": "job", "title": found.title, "files": sorted(p.name for p in found.path.iterdir()), **found.result}


def of_ensemble(found):
    """How many rows the tables have."""
    rows = {name: found.row_count(name) for name in found.tables}
    return {"kind": "ensemble", "title": found.title, "replica_exchange": found.is_exchange, "rows": rows}


def of_fields(file):
    """Levels, and fields with the smallest and largest value of the cells that count."""
    fields = []
    for field in file.fields:
        name = field.name if field.components == 1 else f"{field.name}:mag"
        low, high = file.extremes(name)
        fields.append({"name": field.name, "unit": field.unit, "components": field.components, "centering": field.centering,
                       "min": low, "max": high})
    levels = [{"level": level.number, "patches": len(level.patches), "cells": level.cells, "spacing": level.spacing,
               "domain": np.array(file.domain(level.number)).T} for level in file.levels]
    return {"kind": "fields", "step": file.step, "time": file.time, "dt": file.dt, "code_version": file.code_version,
            "deck_sha256": file.deck_sha256, "run_id": file.run_id, "cells": file.leaf_cells(), "levels": levels,
            "fields": fields, "computed": file.derived}


def of_checkpoint(state):
    """What the manifest says."""
    return {"kind": "checkpoint", "step": state.step, "time": state.time, "ranks": state.ranks, "bytes": state.bytes,
            "components": state.components, "patches": state.patches, "variables": state.variables,
            "code_version": state.code_version, "state": state.state}


def _plain(value):
    """Numbers that JSON has no word for as null, arrays as lists."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
