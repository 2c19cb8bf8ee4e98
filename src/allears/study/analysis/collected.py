"""Collected conversations in numbers, as ED's section 3 tells its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean, median

from allears.conversation import Conversation
from allears.study.analysis.render import Table, number, percent, row


def collection_tables(talks: Sequence[Conversation]) -> list[Table]:
    nothing = float("nan")
    turns = [len(talk.turns) for talk in talks]
    words = [len(turn.text.split()) for talk in talks for turn in talk.turns]
    described = [len((talk.situation or "").split()) for talk in talks]
    workers = Counter(turn.author for talk in talks for turn in talk.turns[:2])
    cells = row(
        str(len(talks)),
        str(len(workers)),
        number(fmean(turns) if turns else nothing),
        number(fmean(words) if words else nothing, 1),
        number(fmean(described) if described else nothing, 1),
        number(median(workers.values()) if workers else nothing, 1),
    )
    header = (
        "Conversations",
        "People",
        "Utterances per conversation",
        "Words per utterance",
        "Words per situation",
        "Conversations per person (median)",
    )
    emotions = Counter(talk.emotion or "" for talk in talks)
    shares = tuple(
        row(emotion, str(count), percent(count / len(talks), 1)) for emotion, count in emotions.most_common()
    )
    return [
        Table("collection", "Collected conversations", header, (cells,), words=0),
        Table(
            "collection-emotions", "Conversations by emotion", ("Emotion", "Conversations", "Share"), shares, (),
            "ED, Figure 3",
        ),
    ]  # fmt: skip
