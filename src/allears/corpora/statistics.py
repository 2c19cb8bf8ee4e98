"""What a corpus is made of, counted in one pass: sizes, lengths, emotions, words, strategies, problems.

Nothing here knows a corpus by name. What a conversation carries is counted: a user's own corpus with
strategies gets the same tables as ESConv, one with personas the rows of PEC's Table 1.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

from allears.conversation import Conversation, Role
from allears.corpora.words import length, stop_words, words

PARTS = 6  # the conversation is cut into this many parts of equal width for the strategies along it
TOP_WORDS = 3  # the ED paper's Figure 3
CATEGORIES = 50  # a label with more values than this (an id, a free text) is not a category
DOMAIN = (
    "domain"  # the label that says which part of a corpus a conversation is from (PEC: happy, offmychest)
)

_ROLES = frozenset(role.value for role in Role)


@dataclass(slots=True)
class Tally:
    """Whole numbers kept as a histogram, so that a median costs no memory."""

    histogram: Counter[int] = field(default_factory=Counter)

    def add(self, value: int) -> None:
        self.histogram[value] += 1

    @property
    def count(self) -> int:
        return self.histogram.total()

    @property
    def mean(self) -> float:
        return sum(value * n for value, n in self.histogram.items()) / self.count if self.histogram else 0.0

    @property
    def std(self) -> float:
        """Of the values as they are (divided by n, not n - 1): a corpus is not a sample of itself."""
        mean = self.mean
        squares = sum((value - mean) ** 2 * n for value, n in self.histogram.items())
        return sqrt(squares / self.count) if self.histogram else 0.0

    @property
    def median(self) -> float:
        """The middle value; halfway between the two middle ones when the number of values is even."""
        if not self.histogram:
            return 0.0
        low, high = (self.count - 1) // 2, self.count // 2
        values = _nth(self.histogram, (low, high))
        return sum(values) / 2

    def to_dict(self) -> dict[str, float]:
        return {"mean": self.mean, "median": self.median, "std": self.std}


def _nth(histogram: Counter[int], positions: tuple[int, int]) -> list[int]:
    """The values at two positions (counted from 0) of the sorted list the histogram stands for."""
    found: list[int] = []
    seen = 0
    for value in sorted(histogram):
        seen += histogram[value]
        while len(found) < 2 and positions[len(found)] < seen:
            found.append(value)
    return found


@dataclass(slots=True)
class Statistics:
    """Counts that grow with every conversation added; the averages are worked out when asked for."""

    conversations: int = 0
    utterances: int = 0
    turns: Tally = field(default_factory=Tally)  # per conversation
    utterance_words: Tally = field(default_factory=Tally)
    authors: set[str] = field(default_factory=set)
    persona_sentences: Tally = field(default_factory=Tally)  # per person
    persona_words: Tally = field(default_factory=Tally)  # per persona sentence
    vocabulary: set[str] = field(default_factory=set)
    emotions: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    strategies: Counter[str] = field(default_factory=Counter)
    strategies_along: tuple[Counter[str], ...] = field(
        default_factory=lambda: tuple(Counter() for _ in range(PARTS))
    )
    turn_emotions: Counter[str] = field(default_factory=Counter)
    intents: Counter[str] = field(default_factory=Counter)
    labels: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    content_words: dict[tuple[str, Role], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    domains: dict[str, Statistics] = field(default_factory=dict)
    _people_with_persona: set[str] = field(default_factory=set)

    @property
    def speakers(self) -> int | None:
        """Different people, where the corpus names them. "0" and "1" are seats at the table, not names."""
        return len(self.authors) if self.authors - {"0", "1"} else None

    def add(self, conversation: Conversation) -> None:
        """Count one conversation, here and in its domain if it has one."""
        self._count(conversation)
        domain = conversation.labels.get(DOMAIN)
        if isinstance(domain, str):
            self.domains.setdefault(domain, Statistics())._count(conversation)

    def _count(self, conversation: Conversation) -> None:
        self.conversations += 1
        self.utterances += len(conversation.turns)
        self.turns.add(len(conversation.turns))
        self._add_turns(conversation)
        self._add_personas(conversation)
        if conversation.emotion is not None:
            self.emotions[conversation.emotion] += 1
        if conversation.problem is not None:
            self.problems[conversation.problem] += 1
        for name, value in _flat(conversation.labels):
            # One value more than CATEGORIES is kept, as the sign that this label is not a category.
            if isinstance(value, str | int) and len(self.labels[name]) <= CATEGORIES:
                self.labels[name][str(value)] += 1

    def _add_turns(self, conversation: Conversation) -> None:
        stop = stop_words()
        many = len(conversation.turns)
        for position, turn in enumerate(conversation.turns):
            self.utterance_words.add(length(turn.text))
            said = words(turn.text)
            self.vocabulary.update(said)
            if turn.author is not None:
                self.authors.add(turn.author)
            if turn.emotion is not None:
                self.turn_emotions[turn.emotion] += 1
            if turn.intent is not None:
                self.intents[turn.intent] += 1
            if turn.strategy is not None:
                self.strategies[turn.strategy] += 1
                self.strategies_along[position * PARTS // many][turn.strategy] += 1
            if conversation.emotion is not None:
                self.content_words[conversation.emotion, turn.speaker].update(
                    word for word in said if word not in stop
                )

    def _add_personas(self, conversation: Conversation) -> None:
        """A named person is counted once, however often they speak; a nameless one once a conversation."""
        for who, persona in conversation.personas.items():
            if who not in _ROLES:
                if who in self._people_with_persona:
                    continue
                self._people_with_persona.add(who)
            self.persona_sentences.add(len(persona.sentences))
            for sentence in persona.sentences:
                self.persona_words.add(length(sentence.text))

    def top_words(self, emotion: str, role: Role, many: int = TOP_WORDS) -> list[str]:
        """The content words said most often under an emotion: plain frequency, as in the ED paper."""
        counts = self.content_words.get((emotion, role), Counter())
        return [word for word, _ in by_frequency(counts)[:many]]

    def categories(self) -> dict[str, Counter[str]]:
        """The labels that sort conversations into a few kinds (a topic, a level), with their counts."""
        return {
            name: counts
            for name, counts in self.labels.items()
            if name != DOMAIN and 1 < len(counts) <= CATEGORIES
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; what the corpus does not have is left out."""
        plain: dict[str, Any] = {
            "conversations": self.conversations,
            "utterances": self.utterances,
            "turns_per_conversation": self.turns.to_dict(),
            "words_per_utterance": self.utterance_words.to_dict(),
            "vocabulary": len(self.vocabulary),
        }
        if self.speakers is not None:
            plain["speakers"] = self.speakers
        if self.persona_sentences.count:
            plain["personas"] = self.persona_sentences.count
            plain["persona_sentences_per_person"] = self.persona_sentences.to_dict()
            plain["words_per_persona_sentence"] = self.persona_words.to_dict()
        if self.emotions:
            plain["emotions"] = {
                emotion: {
                    "conversations": count,
                    "share": count / self.conversations,
                    "seeker_words": self.top_words(emotion, Role.SEEKER),
                    "supporter_words": self.top_words(emotion, Role.SUPPORTER),
                }
                for emotion, count in by_frequency(self.emotions)
            }
        if self.strategies:
            plain["strategies"] = {
                "overall": dict(by_frequency(self.strategies)),
                "along": [dict(by_frequency(part)) for part in self.strategies_along],
            }
        for name, counts in (
            ("problems", self.problems),
            ("turn_emotions", self.turn_emotions),
            ("intents", self.intents),
        ):
            if counts:
                plain[name] = dict(by_frequency(counts))
        if self.categories():
            plain["labels"] = {name: dict(by_frequency(counts)) for name, counts in self.categories().items()}
        if self.domains:
            plain["domains"] = {name: part.to_dict() for name, part in sorted(self.domains.items())}
        return plain


def _flat(labels: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Labels one level deep: EPITOME has a level and rationales under each mechanism."""
    for name, value in labels.items():
        if isinstance(value, Mapping):
            yield from ((f"{name} {inner}", item) for inner, item in value.items())
        else:
            yield name, value


def measure(conversations: Iterable[Conversation]) -> Statistics:
    """Count everything in one pass."""
    statistics = Statistics()
    for conversation in conversations:
        statistics.add(conversation)
    return statistics


def by_frequency(counts: Counter[str]) -> list[tuple[str, int]]:
    """Most frequent first; equal counts in alphabetical order, so that every run says the same."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def pec_table_1(statistics: Statistics) -> Iterator[tuple[str, str]]:
    """The rows of the PEC paper's Table 1: its row names, and the values of one column."""
    yield "#Conv.", f"{statistics.conversations:,}"
    yield "#Utter.", f"{statistics.utterances:,}"
    yield "#Speaker", f"{statistics.speakers or 0:,}"
    yield "#Avg.PS", f"{statistics.persona_sentences.mean:.1f}"
    yield "#Std.PS", f"{statistics.persona_sentences.std:.1f}"
    yield "#Avg.U", f"{statistics.utterance_words.mean:.1f}"
    yield "#Avg.P", f"{statistics.persona_words.mean:.1f}"
