"""Do two people answer more differently than chance? (PEC paper, Figure 1, on EmpatheticDialogues.)

For each emotion, the responses of two different listeners are compared by the TF-IDF similarity of all their
words, against two random disjoint sets of responses to the same emotion, of the same sizes (averaged over five
runs). If who answers did not matter, the two would be equal. A corpus without emotions is compared by subreddit.

Needs to know who answered: copies of EmpatheticDialogues whose `speaker_idx` is only 0 and 1 do not say it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import log, sqrt
from pathlib import Path
from random import Random

from allears.conversation import Conversation, Role
from allears.corpora.words import words
from allears.errors import AllearsError

RUNS = 5
LEAST_RESPONSES = 10  # of a listener to one emotion: fewer say more about the topic than about the person
NOT_NAMES = (None, "0", "1")  # seats at the table
MOST_LISTENERS = 8  # per emotion, those who answered most


@dataclass(frozen=True, slots=True)
class Similarity:
    """Of one emotion: between two people's responses, and between random sets of the same sizes."""

    emotion: str
    people: float
    random: float
    pairs: int


def speaker_similarity(
    conversations: Iterable[Conversation], *, least: int = LEAST_RESPONSES, seed: int = 0
) -> list[Similarity]:
    """One row for each emotion that at least two listeners answered often enough, in alphabetical order."""
    said: dict[str, dict[str, list[list[str]]]] = defaultdict(lambda: defaultdict(list))
    documents: Counter[str] = Counter()
    total = 0
    seats: set[str] = set()
    for conversation in conversations:
        group = conversation.emotion or conversation.labels.get("subreddit")
        for turn in conversation.turns:
            if turn.author in NOT_NAMES:
                seats |= {turn.author} if turn.author else set()
            elif turn.speaker is Role.SUPPORTER and group:
                response = words(turn.text)
                said[group][str(turn.author)].append(response)
                documents.update(set(response))
                total += 1
    if not total and seats:
        raise AllearsError(
            f"this copy of the corpus calls its speakers only {' and '.join(sorted(seats))}, so nobody can tell which "
            "answers in different conversations are one person's, and Figure 1 cannot be drawn from it; use a copy "
            "whose speaker_idx numbers the people, or a corpus built by `allears reddit build`"
        )
    if not total:
        raise AllearsError(
            "this corpus does not say who answered (or under which emotion), so there is nothing to compare"
        )
    weight = {word: log(total / count) for word, count in documents.items()}
    random = Random(seed)
    found = []
    for emotion in sorted(said):
        ranked = sorted(said[emotion].items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_LISTENERS]
        listeners = [responses for _, responses in ranked if len(responses) >= least]
        pool = [response for responses in said[emotion].values() for response in responses]
        pairs = list(combinations(listeners, 2))
        if pairs:
            people = [_similarity(first, second, weight) for first, second in pairs]
            chance = [
                _random_similarity(pool, len(first), len(second), weight, random)
                for first, second in pairs
                for _ in range(RUNS)
            ]
            found.append(
                Similarity(emotion, sum(people) / len(people), sum(chance) / len(chance), len(pairs))
            )
    if not found:
        raise AllearsError(
            f"no two people gave {least} responses under the same emotion; try a smaller --least"
        )
    return found


def _random_similarity(
    pool: list[list[str]], first: int, second: int, weight: dict[str, float], random: Random
) -> float:
    drawn = random.sample(pool, first + second)
    return _similarity(drawn[:first], drawn[first:], weight)


def _similarity(first: list[list[str]], second: list[list[str]], weight: dict[str, float]) -> float:
    """The cosine of two sets' TF-IDF vectors."""
    left, right = (
        {
            word: count * weight[word]
            for word, count in Counter(word for text in texts for word in text).items()
        }
        for texts in (first, second)
    )
    product = sum(value * right.get(word, 0.0) for word, value in left.items())
    norms = sqrt(sum(value**2 for value in left.values())) * sqrt(sum(value**2 for value in right.values()))
    return product / norms if norms else 0.0


def save_similarity_picture(rows: list[Similarity], path: Path) -> None:
    """Figure 1: two bars for each emotion."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    axes = figure.subplots()
    places = range(len(rows))
    axes.bar(
        [place - 0.2 for place in places],
        [row.people for row in rows],
        0.4,
        color="#3d7ea6",
        label="two people",
    )
    axes.bar(
        [place + 0.2 for place in places],
        [row.random for row in rows],
        0.4,
        color="#e07a5f",
        label="random sets",
    )
    axes.set_xticks(places, [row.emotion for row in rows], rotation=60, ha="right")
    axes.set_ylabel("TF-IDF similarity")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    try:
        figure.savefig(path, dpi=150, facecolor="white")
    except (OSError, ValueError) as error:
        raise AllearsError(f"{path}: cannot write the picture ({error})") from error
