"""How the pictures of this room look, and the one way they are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from allears.corpora.plots import INK, QUIET
from allears.errors import AllearsError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # ships with matplotlib: the picture is the same everywhere
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "allears",
}


def picture_style() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    return mpl.rc_context(_STYLE)


def picture(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure  # not pyplot: no global state, nothing to close

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
    return figure


def write_picture(figure: Figure, path: Path) -> None:
    try:
        figure.savefig(path, dpi=150, facecolor="white")
    except OSError as error:
        raise AllearsError(f"{path}: cannot write the picture ({error.strerror or error})") from error
