"""Results of Tessera in Python: run folders, fields on refined levels, histories, traces; pictures and reports.

    import tessera
    run = tessera.load("cosine")                       # a run folder; or a field file, a checkpoint, a trace
    run.history["heat.total"]                          # numpy arrays
    fields = run.fields[-1]                            # the last state
    fields.covering_grid("temperature", level=0)       # one array, finest values averaged
    fields.slice("temperature", axis="z", at=0.5)
    fields.line("temperature", (0, 0.5, 0.5), (1, 0.5, 0.5))
    tessera.run("inputs/heat/cosine.toml", heat__conductivity=2.0)

Needs numpy and h5py; pictures need matplotlib.
"""
import sys

try:
    import numpy  # noqa: F401
except ImportError:
    if sys.argv[0] != "-m":  # `python3 -m tessera` shows a sentence, not where it happened
        raise
    print("tessera: error: this command needs the Python package numpy, which this machine does not have\n"
          "  fix  ./tessera setup --plot installs it from Debian (python3-numpy) and makes an environment that finds it",
          file=sys.stderr)
    raise SystemExit(6) from None

from tessera.analysis_rows import AnalysisRows
from tessera.checkpoint import Checkpoint
from tessera.deck import Deck
from tessera.errors import InputError, MissingPackage, OutputError, TesseraError, UsageError
from tessera.expression import Expression
from tessera.field_file import FieldFile
from tessera.job_folder import Ensemble, Job
from tessera.program import RunFailed, run, sweep
from tessera.run_folder import Run, Series, load
from tessera.table import Table
from tessera.trace import Trace
from tessera.yt_loader import to_yt

__version__ = "0.1.0"
__all__ = ["AnalysisRows", "Checkpoint", "Deck", "Ensemble", "Expression", "FieldFile", "InputError", "Job", "MissingPackage", "OutputError", "Run",
           "RunFailed", "Series", "Table", "TesseraError", "Trace", "UsageError", "load", "run", "sweep", "to_yt"]
