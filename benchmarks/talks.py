"""The figures of the talks' data card: `python benchmarks/talks.py [--json]`.

Shares of kinds and strategies, lengths, openings, near-duplicates between replies of different authors (by the shipped
encoder), and what the second readers found. Everything is read from the package; nothing is fetched.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from allears.conversation import Conversation, Role
from allears.corpora.talks import Talks
from allears.corpora.talks.marks import read_marks
from allears.corpora.talks.rules import openings, words
from allears.runtime.onnx_selector import OnnxSelector

SPLITS = ("train", "valid", "test")
ALIKE = 0.93
ROWS_AT_ONCE = 2000
SHORTEST = 6  # words: shorter replies ("Hi there.") are everybody's


def talks() -> list[Conversation]:
    nowhere = Path("/nonexistent")
    return [talk for split in SPLITS for talk in Talks().read(split, nowhere)]


def replies_of(every: list[Conversation]) -> list[tuple[str, str]]:
    """(author, reply) of every reply that is a target."""
    return [
        (str(talk.labels["author"]), turn.text)
        for talk in every
        for number, turn in enumerate(talk.turns, 1)
        if turn.speaker is Role.SUPPORTER
        and number not in talk.labels.get("misses", ())
        and talk.labels["kind"] != "other language"  # one sentence in one language is soon the same
    ]


def near_duplicates(replies: list[tuple[str, str]], least: float = ALIKE) -> list[tuple[float, int, int]]:
    """Pairs of replies of different authors whose vectors' cosine is above `least`, the nearest first."""
    selector = OnnxSelector.from_bundle()
    vectors = selector.encode_responses([text for _, text in replies]).vectors
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    _, authors = np.unique([author for author, _ in replies], return_inverse=True)
    long = np.array([len(words(text)) >= SHORTEST for _, text in replies])
    found: list[tuple[float, int, int]] = []
    for start in range(0, len(vectors), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        cosines = vectors[rows] @ vectors.T
        allowed = (authors[rows][:, None] != authors[None, :]) & long[rows][:, None] & long[None, :]
        for row, column in zip(*np.nonzero((cosines > least) & allowed), strict=True):
            if start + row < column:
                found.append((float(cosines[row, column]), int(start + row), int(column)))
    return sorted(found, reverse=True)


def figures(every: list[Conversation]) -> dict[str, Any]:
    replies = replies_of(every)
    texts = [text for _, text in replies]
    first = openings(texts)
    supporters = [turn for talk in every for turn in talk.turns if turn.speaker is Role.SUPPORTER]
    seekers = [turn for talk in every for turn in talk.turns if turn.speaker is Role.SEEKER]
    marks = Counter(mark for each in read_marks() for mark in each.marks)
    judged = sum(marks[mark] for mark in "GPO")
    return {
        "conversations": len(every),
        "replies": len(supporters),
        "authors": len({talk.labels["author"] for talk in every}),
        "kinds": dict(Counter(talk.labels["kind"] for talk in every).most_common()),
        "strategies": dict(Counter(turn.strategy for turn in supporters).most_common()),
        "emotions": len({talk.emotion for talk in every}),
        "words_per_reply": round(mean(len(words(text)) for text in texts), 1),
        "words_per_message": round(mean(len(words(turn.text)) for turn in seekers), 1),
        "with_question": round(100 * mean("?" in text for text in texts), 1),
        "distinct_openings": round(100 * len(first) / len(texts), 1),
        "commonest_openings": dict(list(first.items())[:8]),
        "near_duplicates": len(near_duplicates(replies)),
        "marks": judged,
        "marked_good": round(100 * marks["G"] / judged, 1) if judged else None,
        "marked_plain": round(100 * marks["P"] / judged, 1) if judged else None,
        "marked_off": round(100 * marks["O"] / judged, 1) if judged else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--duplicates", action="store_true", help="list the near-duplicates instead")
    options = parser.parse_args()
    every = talks()
    if options.duplicates:
        replies = replies_of(every)
        for cosine, one, other in near_duplicates(replies):
            print(
                f"{cosine:.3f}  {replies[one][0]}: {replies[one][1]}  |  {replies[other][0]}: {replies[other][1]}"
            )
        return
    found = figures(every)
    print(
        json.dumps(found) if options.json else "\n".join(f"{name}: {value}" for name, value in found.items())
    )


if __name__ == "__main__":
    main()
