"""Everything behind one reply, as a person can read it: `/why`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from allears.chat.view import REPLY, note, one_line
from allears.listener.contract import CARDS  # where most replies are from, which is not told

BAR = 24  # characters of a full bar
EMOTIONS = 5
CANDIDATES = 5
STRATEGIES = 4


def why(reasons: Mapping[str, Any] | None) -> RenderableType:
    """`reasons` as `Why.to_dict` gives them, fresh or out of the database."""
    if reasons is None:
        return note("There is no reply to explain yet.")
    if reasons["kind"] == "crisis":
        parts = [_crisis(reasons["screening"])]
    elif reasons["kind"] == "reply":
        parts = _reply(reasons)
    else:
        parts = [note("You asked about what is noted, so I answered that and nothing else was weighed."),
                 *_changes(reasons)]  # fmt: skip
    return Group(*parts, *_timings(reasons["milliseconds"]))


def _reply(reasons: Mapping[str, Any]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if reasons["emotions"]:
        parts += [_heading("what I heard"), _bars(reasons["emotions"][:EMOTIONS])]
    if reasons["strategy"] or reasons["strategies"]:
        parts.append(
            _heading(f"what the reply tries: {reasons['strategy'].lower() or 'nothing in particular'}")
        )
        parts.append(_bars([(name.lower(), chance) for name, chance in reasons["strategies"][:STRATEGIES]]))
    if reasons["persona"]:
        parts.append(_heading("what it goes by of what I know about you"))
        parts.append(_bars([(one_line(each["text"]), each["weight"]) for each in reasons["persona"]]))
    learned = [f"noted: {one_line(each['text'])}" for each in reasons["learned"]]
    if learned or reasons["changes"]:
        parts.append(_heading("what I learned from your message"))
        parts += [*map(note, learned), *_changes(reasons)]
    if reasons["candidates"]:
        parts += [_heading("what else I could have said"), _candidates(reasons["candidates"])]
    if reasons.get("trouble"):
        parts += [
            _heading(f"why the voice {reasons['voice']} said nothing"),
            note(one_line(reasons["trouble"])),
        ]
    if reasons["review"]:
        parts.append(_heading("what my own review did not let through"))
        parts += [note(one_line(each)) for each in reasons["review"]]
    return parts


def _crisis(screening: Mapping[str, Any]) -> RenderableType:
    danger = screening.get("danger") or "danger"
    parts = [_heading(f"the crisis screen answered, with a text written beforehand ({danger})")]
    evidence = screening.get("evidence", ())
    table = Table.grid(padding=(0, 2))
    for each in evidence:
        words = f"“{one_line(each['words'])}”" if each.get("words") else ""
        table.add_row(
            "", Text(each["layer"], style="dim"), one_line(each["name"]), f"{each['weight']:.2f}", words
        )
    return Group(*parts, *([table] if evidence else []))


def _candidates(ranked: Sequence[Mapping[str, Any]]) -> RenderableType:
    """The first was said. `score` is the ranker's (a voice's own worth), `adjusted` what decided."""
    table = Table.grid(padding=(0, 2), expand=False)
    for column in ("", "score", "adjusted", ""):
        table.add_column(justify="right" if column else "left", no_wrap=bool(column))
    table.add_row("", Text("score", style="dim"), Text("decided", style="dim"), "")
    for number, each in enumerate(ranked[:CANDIDATES]):
        text = Text(one_line(each["proposal"]["text"]), style=REPLY if number == 0 else "")
        notes = [f"by {source}"] if (source := each["proposal"].get("source", CARDS)) != CARDS else []
        notes += each["notes"]
        if notes:
            text.append("\n" + ", ".join(notes), style="dim")
        table.add_row("", f"{each['score']:.2f}", f"{each['adjusted']:.2f}", text)
    return table


def _changes(reasons: Mapping[str, Any]) -> list[RenderableType]:
    return [
        note(
            f"{each['reason']}: {one_line(each['old'])}"
            + (f" → {one_line(each['new'])}" if each["new"] else "")
        )
        for each in reasons["changes"]
    ]


def _timings(milliseconds: Mapping[str, float]) -> list[RenderableType]:
    if not milliseconds:
        return []
    steps = ", ".join(f"{step} {spent:.0f}" for step, spent in milliseconds.items())
    return [_heading(f"{sum(milliseconds.values()):.0f} ms"), note(steps)]


def _bars(shares: Sequence[Sequence[Any]]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for justify in ("left", "left", "right", "left"):
        table.add_column(justify=justify)
    for name, share in shares:
        bar = Text("█" * round(BAR * min(1.0, share)) or "▏", style=REPLY)
        table.add_row("", str(name), f"{share:.0%}", bar)
    return table


def _heading(text: str) -> RenderableType:
    return Text(f"  {text}", style="bold")
