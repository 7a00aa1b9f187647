"""How our pictures look: matplotlib without a screen, colours that everybody can tell apart, ranges."""
import re

import numpy as np

from tessera.errors import MissingPackage, UsageError, nearest
from tessera.field_file import with_unit

# Okabe and Ito's palette, which people with any kind of colour blindness can tell apart.
LINES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
LEVELS = ["#9a9a9a", "#ff9f1c", "#e71d36", "#9d4edd", "#2ec4b6", "#111111"]
POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def pyplot():
    """matplotlib.pyplot with our defaults; MissingPackage where there is none."""
    try:
        import matplotlib
    except ImportError as missing:
        raise MissingPackage("matplotlib", "drawing") from missing
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({
        "figure.dpi": 120, "savefig.dpi": 120, "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
        "axes.grid": False, "grid.alpha": 0.3, "axes.prop_cycle": plt.cycler(color=LINES), "svg.hashsalt": "tessera",
        "axes.formatter.useoffset": False, "figure.constrained_layout.use": True, "figure.constrained_layout.w_pad": 0.09})
    return plt


class ColourRange:
    """Lowest and highest value of a picture, and the colour map that suits them."""

    def __init__(self, arrays, log=False, limits=None, colours=None):
        finite = [a[np.isfinite(a)] for a in arrays]
        if log:
            finite = [a[a > 0] for a in finite]
        finite = [a for a in finite if a.size]
        if not finite:
            raise UsageError("there is no value " + ("above 0 to draw; leave out --log" if log else "to draw"))
        low, high = min(float(a.min()) for a in finite), max(float(a.max()) for a in finite)
        self.signed = not log and limits is None and low < 0 < high and min(-low, high) > 0.2 * max(-low, high)
        if self.signed:  # white is 0
            high = max(-low, high)
            low = -high
        if limits is not None:
            low, high = limits
        if low == high:
            low, high = low - (abs(low) or 1.0) * 1e-3, high + (abs(high) or 1.0) * 1e-3
        self.low, self.high, self.log = low, high, log
        self.colours = colours or ("RdBu_r" if self.signed else "viridis")

    def norm(self):
        from matplotlib import colors

        return colors.LogNorm(self.low, self.high) if self.log else colors.Normalize(self.low, self.high)

    def colour_map(self):
        pyplot()
        import matplotlib

        known = list(matplotlib.colormaps)
        if self.colours not in known:
            raise UsageError(f"there is no colour map '{self.colours}'" + nearest(self.colours, known).split("; there is")[0]
                             + "; for example viridis, magma, cividis, RdBu_r")
        chosen = matplotlib.colormaps[self.colours].copy()
        chosen.set_bad("#dddddd")
        return chosen


def time_text(file):
    """'t = 0.25 s, step 128'; without a unit where the deck gives none."""
    unit = "" if file.time_unit == "time" else f" {printed(file.time_unit)}"
    return f"t = {file.time:.6g}{unit}, step {file.step}"


def printed(text):
    """Powers in a unit as they are printed.

        >>> printed("density (kg/m^3)"), printed("1/s^-12"), printed("x^y")
        ('density (kg/m³)', '1/s⁻¹²', 'x^y')
    """
    return re.sub(r"\^(-?\d+)", lambda found: found.group(1).translate(POWERS), text)


def axis_label(file, axis):
    """'x (m)'."""
    return printed(with_unit(axis, file.length_unit))


def save(figure, path):
    """Writes the figure under its final name as a whole; OutputError in a sentence where it cannot."""
    import os
    from pathlib import Path

    from tessera.errors import OutputError

    path = Path(path)
    kinds = figure.canvas.get_supported_filetypes()
    kind = path.suffix[1:].lower()
    if kind not in kinds:
        raise UsageError(f"'{path}' ends in no kind of picture that can be written; use .png, .svg, .pdf, .mp4 or .html")
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        figure.savefig(unfinished, format=kind, metadata={"Date": None} if kind == "svg" else None)
        os.replace(unfinished, path)
    except OSError as problem:
        raise OutputError(f"{path} cannot be written: {problem.strerror or problem}\n  fix  choose another place with -o"
                          ) from problem
    pyplot().close(figure)
    return path
