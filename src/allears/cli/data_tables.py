"""Tables of the `data` commands. Numbers come in ready; here they only find their cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from allears.conversation import Role
from allears.corpora.check import BROKEN, DIFFERS, FINE, NOT_HERE, SplitReport
from allears.corpora.corpus import CorpusInfo
from allears.corpora.statistics import PARTS, Statistics, Tally, by_frequency, pec_table_1

STATUS_COLOURS = {FINE: "green", DIFFERS: "yellow", BROKEN: "red", NOT_HERE: "dim"}


def _table(title: str, *columns: str, right: Sequence[str] = ()) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left")
    return table


def corpora_table(rows: Sequence[tuple[CorpusInfo, Sequence[str]]]) -> Table:
    """What can be read, and what of it is here."""
    table = _table("", "corpus", "licence", "here", "published")
    table.columns[2].overflow = "fold"  # a command that is cut off is no help
    for info, here in rows:
        table.add_row(
            Text.assemble((info.name, "bold"), "\n", (info.title, "dim")),
            Text(info.licence),
            Text(", ".join(here), style="green")
            if here
            else Text(f"not here: allears data download {info.name}", style="dim"),
            Text("\n".join(f"{split} {count:,}" for split, count in info.counts.items())),
        )
    return table


def statistics_tables(title: str, by_split: Mapping[str, Statistics]) -> Iterator[RenderableType]:
    """Sizes of every split side by side, then the details of the first one."""
    yield _sizes(title, by_split)
    if any(statistics.domains for statistics in by_split.values()):
        yield _pec_table(by_split)
    split, statistics = next(iter(by_split.items()))
    if statistics.emotions:
        yield _emotions(f"emotions, {split}", statistics)
    if statistics.problems:
        yield _distribution(f"problems, {split}", "problem", statistics.problems)
    if statistics.strategies:
        yield _strategies(f"support strategies, {split}", statistics)
    # Single posts have one turn, so the turn's emotion is the conversation's: once is enough.
    turn_emotions = Counter() if statistics.turn_emotions == statistics.emotions else statistics.turn_emotions
    for name, counts in (
        ("emotion of a turn", turn_emotions),
        ("intent", statistics.intents),
        *statistics.categories().items(),
    ):
        if counts:
            label = name.replace("_", " ")
            yield _distribution(f"{label}, {split}", label, counts)


def _sizes(title: str, by_split: Mapping[str, Statistics]) -> Table:
    table = _table(title, "", *by_split, right=list(by_split))
    for name, cell in _SIZE_ROWS:
        cells = [cell(statistics) for statistics in by_split.values()]
        if any(cells):
            table.add_row(name, *(text or "–" for text in cells))
    return table


def _number(count: int | None) -> str:
    return f"{count:,}" if count else ""


def _spread(tally: Tally) -> str:
    return f"{tally.mean:.1f} ± {tally.std:.1f}" if tally.count else ""


def _median(tally: Tally) -> str:
    return f"{tally.median:g}" if tally.count else ""


_SIZE_ROWS: tuple[tuple[str, Callable[[Statistics], str]], ...] = (
    ("conversations", lambda found: f"{found.conversations:,}"),
    ("utterances", lambda found: f"{found.utterances:,}"),
    ("turns per conversation", lambda found: _spread(found.turns)),
    ("words per utterance", lambda found: _spread(found.utterance_words)),
    ("  median", lambda found: _median(found.utterance_words)),
    ("vocabulary", lambda found: f"{len(found.vocabulary):,}"),
    ("people named", lambda found: _number(found.speakers)),
    ("personas", lambda found: _number(found.persona_sentences.count)),
    ("sentences per persona", lambda found: _spread(found.persona_sentences)),
    ("words per persona sentence", lambda found: _spread(found.persona_words)),
)


def _pec_table(by_split: Mapping[str, Statistics]) -> Table:
    """Domains side by side, each with its splits, as the paper prints them."""
    columns = {
        f"{domain}\n{split}": statistics.domains[domain]
        for domain in sorted({name for found in by_split.values() for name in found.domains})
        for split, statistics in by_split.items()
        if domain in statistics.domains
    }
    table = _table("as in the PEC paper's Table 1", "", *columns, right=list(columns))
    for cells in zip(*(pec_table_1(statistics) for statistics in columns.values()), strict=True):
        table.add_row(cells[0][0], *(value for _, value in cells))
    return table


def _emotions(title: str, statistics: Statistics) -> Table:
    """With the words of each side; a corpus of single posts has only one side."""
    roles = [role for role in Role if any(who is role for _, who in statistics.content_words)]
    colours = {Role.SEEKER: "yellow", Role.SUPPORTER: "cyan"}
    table = _table(
        title,
        *("emotion", "number", "share", *(f"{role.value}'s words" for role in roles)),
        right=("number", "share"),
    )
    for emotion, count in by_frequency(statistics.emotions):
        table.add_row(
            Text(emotion),
            f"{count:,}",
            f"{count / statistics.conversations:.1%}",
            *(Text(", ".join(statistics.top_words(emotion, role)), style=colours[role]) for role in roles),
        )
    return table


def _strategies(title: str, statistics: Statistics) -> Table:
    parts = [f"{number}/{PARTS}" for number in range(1, PARTS + 1)]
    numbers = ("messages", "share", *parts)
    table = _table(
        f"{title} (shares within each sixth of the conversation)", "strategy", *numbers, right=numbers
    )
    for strategy, count in by_frequency(statistics.strategies):
        table.add_row(
            Text(strategy),
            f"{count:,}",
            f"{count / statistics.strategies.total():.1%}",
            *(
                f"{part[strategy] / part.total():.0%}" if part.total() else "–"
                for part in statistics.strategies_along
            ),
        )
    return table


def _distribution(title: str, name: str, counts: Counter[str]) -> Table:
    table = _table(title, name, "number", "share", right=("number", "share"))
    for value, count in by_frequency(counts):
        table.add_row(Text(value), f"{count:,}", f"{count / counts.total():.1%}")
    return table


def check_table(reports: Sequence[SplitReport]) -> Table:
    table = _table(
        "", "corpus", "split", "conversations", "utterances", "result", "remarks",
        right=("conversations", "utterances"),
    )  # fmt: skip
    table.columns[0].no_wrap = True
    last = ""
    for report in reports:
        here = report.status != NOT_HERE
        table.add_row(
            Text(report.corpus if report.corpus != last else "", style="bold"),
            Text(report.split),
            _against(report.conversations, report.expected_conversations) if here else "",
            _against(report.utterances, report.expected_utterances) if here else "",
            Text(report.status, style=STATUS_COLOURS[report.status]),
            Text("\n".join(_remarks(report))),
        )
        last = report.corpus
    return table


def _against(found: int, expected: int | None) -> str:
    return f"{found:,}" if expected is None or found == expected else f"{found:,} (published {expected:,})"


def _remarks(report: SplitReport) -> Iterator[str]:
    if report.problem_count:
        yield f"{report.problem_count:,} problem{'s' if report.problem_count > 1 else ''}, listed below"
    for note, count in sorted(report.notes.items()):
        yield f"{count:,} {note}"
