"""Pictures of a corpus's statistics. Which picture is drawn follows from what the corpus carries.

matplotlib is imported when a picture is asked for, with the Agg backend: no window, no display needed.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allears.conversation import Role
from allears.corpora.statistics import PARTS, Statistics, Tally, by_frequency
from allears.errors import AllearsError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg", ".pdf")

INK, QUIET, GRID = "#22313f", "#6b7785", "#e3e7eb"
SEEKER, SUPPORTER = "#c8593d", "#3d7ea6"  # warm for the one who tells, calm for the one who listens
# Told apart in print and by most people who see colours differently; neighbours in the stack contrast.
STACK = ("#3d7ea6", "#e07a5f", "#81b29a", "#f2cc8f", "#6d597a", "#9fc5e8", "#b56576", "#a8b0b9")


def check_picture_path(path: Path) -> None:
    """Refuse early what could not be written later, before minutes of counting."""
    if path.suffix.lower() not in ENDINGS:
        raise AllearsError(f"{path}: a picture ends in {', '.join(ENDINGS)}")
    if not path.absolute().parent.is_dir():
        raise AllearsError(f"{path}: the folder {path.absolute().parent} does not exist")


def save_picture(statistics: Statistics, title: str, path: Path) -> None:
    """Draw the picture that suits the corpus and write it to `path` (.png, .svg or .pdf)."""
    check_picture_path(path)
    if not statistics.conversations:
        raise AllearsError(f"{title} holds no conversations, so there is nothing to draw")
    import matplotlib as mpl

    mpl.use("Agg")
    style: Any = {
        "font.family": "DejaVu Sans",  # ships with matplotlib: the picture is the same everywhere
        "font.size": 10,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": QUIET,
        "xtick.color": QUIET,
        "ytick.color": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.hashsalt": "allears",  # the same input draws the same bytes
    }
    with mpl.rc_context(style):
        if statistics.strategies:
            figure = draw_strategies(statistics, title)
        elif statistics.emotions:
            figure = draw_emotions(statistics, title)
        else:
            figure = draw_lengths(statistics, title)
        try:
            figure.savefig(path, dpi=150, facecolor="white")
        except OSError as error:
            raise AllearsError(f"{path}: cannot write the picture ({error.strerror or error})") from error


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure  # not pyplot: no global state, nothing to close

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.set_layout_engine("constrained", w_pad=0.14, h_pad=0.12, wspace=0.04)
    return figure


def draw_emotions(statistics: Statistics, title: str) -> Figure:
    """The ED paper's Figure 3: how often each emotion occurs, and what is said most under it."""
    ranked = by_frequency(statistics.emotions)
    figure = _figure(10, 1.4 + 0.265 * len(ranked))
    figure.suptitle(title, fontsize=14, fontweight="bold", x=0.01, ha="left")
    axes = figure.subplots()
    shares = [100 * count / statistics.conversations for _, count in ranked]
    axes.barh(range(len(ranked)), shares, height=0.68, color=SUPPORTER, alpha=0.85)
    axes.set_yticks(range(len(ranked)), [emotion for emotion, _ in ranked])
    axes.set_ylim(len(ranked) - 0.4, -1.5)  # the first on top, a line above it for the columns' names
    widest = max(shares)
    # A corpus of single posts has no supporter, so no column of their words.
    columns = [
        (role, widest * (1.22 + 0.86 * position), colour)
        for position, (role, colour) in enumerate(_speaking_roles(statistics))
    ]
    axes.set_xlim(0, widest * (1.15 + 0.87 * len(columns)))
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[["bottom", "left"]].set_visible(False)
    for row, (emotion, _) in enumerate(ranked):
        axes.text(
            shares[row] + widest * 0.02, row, f"{shares[row]:.1f}%", va="center", color=QUIET, fontsize=8.5
        )
        for role, column, colour in columns:
            said = ", ".join(statistics.top_words(emotion, role))
            axes.text(column, row, said, va="center", color=colour, fontsize=9.5)
    axes.text(0, -1, "share of conversations", va="center", color=QUIET, fontsize=9)
    for role, column, colour in columns:
        axes.text(column, -1, f"{role.value}'s most-used words", va="center", color=colour, fontweight="bold")
    return figure


def _speaking_roles(statistics: Statistics) -> list[tuple[Role, str]]:
    return [
        (role, colour)
        for role, colour in ((Role.SEEKER, SEEKER), (Role.SUPPORTER, SUPPORTER))
        if any(who is role and counts for (_, who), counts in statistics.content_words.items())
    ]


def draw_strategies(statistics: Statistics, title: str) -> Figure:
    """Support strategies: how often each is used, and how the mix changes along the conversation."""
    ranked = by_frequency(statistics.strategies)
    colours = {name: STACK[position % len(STACK)] for position, (name, _) in enumerate(ranked)}
    figure = _figure(11, 4.8)
    figure.suptitle(title, fontsize=14, fontweight="bold", x=0.01, ha="left")
    overall, along = figure.subplots(1, 2, width_ratios=(1, 1.25))
    _bars(overall, statistics.strategies, "of the supporter's messages", colours)
    bottoms = [0.0] * PARTS  # built from below, so the most frequent strategy comes last and lies on top
    totals = [part.total() or 1 for part in statistics.strategies_along]
    for name, _ in reversed(ranked):
        shares = [
            100 * part[name] / total for part, total in zip(statistics.strategies_along, totals, strict=True)
        ]
        bars = along.bar(range(PARTS), shares, 0.86, bottom=bottoms, color=colours[name], label=name)
        bottoms = [bottom + share for bottom, share in zip(bottoms, shares, strict=True)]
        # A number only where it fits into its piece.
        along.bar_label(
            bars,
            labels=[f"{share:.0f}" if share >= 6 else "" for share in shares],
            label_type="center",
            color=_readable_on(colours[name]),
            fontsize=8.5,
        )
    along.set_title("along the conversation (% of each sixth)", loc="left", fontsize=10.5, color=QUIET)
    along.set_xticks(range(PARTS), _part_names())
    along.set_xlim(-0.45, PARTS - 0.55)
    along.set_ylim(0, 100)
    along.set_yticks([])
    along.tick_params(length=0)
    along.spines[["left", "bottom"]].set_visible(False)
    return figure


def _part_names() -> list[str]:
    return ["start", *(f"{part}/{PARTS}" for part in range(2, PARTS)), "end"]


def _readable_on(colour: str) -> str:
    """White on dark pieces, ink on light ones."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 150 else "white"


def _bars(axes: Axes, counts: Counter[str], of_what: str, colours: dict[str, str]) -> None:
    ranked = by_frequency(counts)
    if all(name.isdecimal() for name in counts):  # levels and sessions have an order of their own
        ranked.sort(key=lambda item: int(item[0]))
    shares = [100 * count / counts.total() for _, count in ranked]
    bars = axes.barh(
        range(len(ranked)), shares, height=0.7, color=[colours.get(name, SUPPORTER) for name, _ in ranked]
    )
    axes.bar_label(bars, labels=[f"{share:.1f}%" for share in shares], padding=4, color=QUIET, fontsize=9)
    axes.set_yticks(range(len(ranked)), [name for name, _ in ranked])
    axes.set_ylim(max(len(ranked), 5) - 0.4, -0.6)  # the first on top; few bars do not grow into walls
    axes.set_title(f"share {of_what}", loc="left", fontsize=10.5, color=QUIET)
    axes.set_xlim(0, max(shares) * 1.18)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[["bottom", "left"]].set_visible(False)


def draw_lengths(statistics: Statistics, title: str) -> Figure:
    """For every other corpus: how long conversations, utterances and personas are, and its labels."""
    tallies = [
        ("turns in a conversation", statistics.turns, SEEKER),
        ("words in an utterance", statistics.utterance_words, SUPPORTER),
        ("persona sentences of a person", statistics.persona_sentences, "#81b29a"),
    ]
    shown = [item for item in tallies if len(item[1].histogram) > 1]
    labels = _labels(statistics)
    many = max(1, len(shown) + len(labels))
    tallest = max((len(counts) for _, counts in labels), default=0)
    figure = _figure(4.2 * many, max(4.6, 1.2 + 0.21 * tallest))
    figure.suptitle(title, fontsize=14, fontweight="bold", x=0.01, ha="left")
    panels = figure.subplots(1, many, squeeze=False)[0]
    for axes, (name, tally, colour) in zip(panels, shown, strict=False):
        _histogram(axes, tally, name, colour)
    for axes, (name, counts) in zip(panels[len(shown) :], labels, strict=False):
        _bars(axes, counts, name, {})
    return figure


def _labels(statistics: Statistics) -> list[tuple[str, Counter[str]]]:
    """Up to three distributions that fit beside the lengths."""
    found = [
        ("of turns by emotion", statistics.turn_emotions),
        ("of turns by intent", statistics.intents),
        *((f"by {name.replace('_', ' ')}", counts) for name, counts in statistics.categories().items()),
    ]
    return [(name, counts) for name, counts in found if counts][:3]


def _histogram(axes: Axes, tally: Tally, name: str, colour: str) -> None:
    """Cut at the 99th percentile, so that one giant does not press everything else into a line."""
    from matplotlib.ticker import MaxNLocator

    ordered = sorted(tally.histogram)
    seen, cut = 0, ordered[-1]
    for value in ordered:
        seen += tally.histogram[value]
        if seen >= 0.99 * tally.count:
            cut = value
            break
    values = [value for value in ordered if value <= cut]
    width = max(1, -(-(cut - ordered[0] + 1) // 40))  # about forty bars at most
    axes.hist(
        values,
        bins=[edge - 0.5 for edge in range(ordered[0], cut + width + 1, width)],
        weights=[100 * tally.histogram[value] / tally.count for value in values],
        color=colour,
        alpha=0.9,
        rwidth=0.9,
    )
    axes.axvline(tally.mean, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    axes.annotate(
        f"mean {tally.mean:.1f}", (tally.mean, 0.97), xycoords=("data", "axes fraction"), xytext=(5, 0),
        textcoords="offset points", va="top", fontsize=9, color=INK,
    )  # fmt: skip
    axes.set_title(name, loc="left", fontsize=10.5, color=QUIET)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.1)  # room for the mean above the bars
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}%")
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0, colors=QUIET)
