"""The heads by name: what each reads, which labels it gives, and how a corpus becomes its labelled readings."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

import numpy as np

from allears import labels as sets
from allears.conversation import Conversation, Role, Turn
from allears.corpora import corpus as corpus_named
from allears.corpora import data_root
from allears.corpora.examples import is_missed
from allears.errors import AllearsError
from allears.text.reading import Reading
from allears.text.tokenizer import words

STRATEGY_TURNS = 6  # whose words are read; of the turns before only what the supporter did
HELD_OUT = 10  # percent of a corpus without a valid split that serve as one


class Reads(StrEnum):
    """What a head looks at."""

    DESCRIPTION = "the description of the situation"
    SEEKER_TURNS = "everything the seeker says"
    CONVERSATION = "the conversation so far, with its length and past strategies shown"
    MESSAGE = "the latest message, with the turns before it"
    PAIR = "a seeker's post and the response to it"
    TURN = "one turn"


@dataclass(frozen=True, slots=True)
class Head:
    """One question that can be asked about what somebody said.

    `base` names the head whose probabilities answer this one too: emotions add up to their groups (`groups`
    says which label belongs to which), and ED-CUT asks the same question of fewer descriptions.
    """

    name: str
    labels: tuple[str, ...]
    corpus: str
    reads: Reads
    about: str
    find: Callable[[Conversation], Iterable[Reading]]
    multi_label: bool = False
    rationales: bool = False
    base: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)

    def readings(self, conversations: Iterable[Conversation]) -> Iterator[Reading]:
        """Every labelled reading; conversations without what this head needs are left out."""
        known = frozenset(self.labels)
        for conversation in conversations:
            for reading in self.find(conversation):
                unknown = [label for label in reading.labels if label not in known]
                if unknown:
                    raise AllearsError(
                        f"{conversation.source or 'the conversation'} {conversation.id!r}: unknown label "
                        f"{unknown[0]!r} for the head {self.name}; known are {', '.join(self.labels)}"
                    )
                yield reading

    def read(
        self, split: str, root: Path | str | None = None, *, corpus: str | Path | None = None
    ) -> list[Reading]:
        """The readings of one split of the head's own corpus, or of another that is labelled alike.

        A corpus that is published without a valid split (EPITOME, 20 Newsgroups) has a tenth of its train
        split held out for one; a post is wholly on one side.
        """
        reader = corpus_named(corpus or self.corpus)
        published = reader.info.splits
        held = split in ("train", "valid") and "train" in published and "valid" not in published
        conversations = reader.read("train" if held else split, data_root(root))
        if held:
            conversations = (talk for talk in conversations if held_out(talk) == (split == "valid"))
        found = list(self.readings(conversations))
        if not found:
            raise AllearsError(
                f"the {split} split of {corpus or self.corpus} has nothing labelled for the head {self.name}, "
                f"which reads {self.reads.value}"
            )
        return found

    def from_base(self, probabilities: np.ndarray) -> np.ndarray:
        """The base's probabilities [N, its labels] as this head's: members of a group are added up."""
        if not self.groups:
            return probabilities
        added = np.zeros((len(probabilities), len(self.labels)))
        for column, label in enumerate(HEADS[self.base].labels):
            added[:, self.labels.index(self.groups[label])] += probabilities[:, column]
        return added


def held_out(conversation: Conversation) -> bool:
    """Whether a conversation belongs to the held-out tenth; the same first words always do, on any machine."""
    first = conversation.turns[0].text if conversation.turns else conversation.id
    digest = hashlib.sha256(first.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") % 100 < HELD_OUT


def head(name: str) -> Head:
    """A head by its name; an unknown one is one sentence with the nearest known."""
    found = HEADS.get(name)
    if found is None:
        near = difflib.get_close_matches(name, HEADS, 1)
        advice = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(HEADS)}"
        raise AllearsError(f"unknown head {name!r}; {advice}")
    return found


# --- From a conversation to readings, one function per way of reading.


def _emotion_from_description(
    conversation: Conversation, *, cut: bool = False, groups: Mapping[str, str] | None = None
) -> Iterator[Reading]:
    emotion, situation = conversation.emotion, (conversation.situation or "").strip()
    if not emotion or not situation or (cut and emotion in words(situation)):
        return
    label = emotion if groups is None else groups.get(emotion, emotion)
    yield Reading((Turn(Role.SEEKER, situation),), (label,), conversation=conversation.id)


def _emotion_from_turns(conversation: Conversation) -> Iterator[Reading]:
    turns = tuple(Turn(turn.speaker, turn.text) for turn in conversation.turns if turn.speaker is Role.SEEKER)
    if conversation.emotion and turns:
        yield Reading(turns, (conversation.emotion,), conversation=conversation.id)


def _comment(conversation: Conversation) -> Iterator[Reading]:
    emotions = conversation.labels.get("emotions") or ([conversation.emotion] if conversation.emotion else [])
    if emotions and conversation.turns:
        yield Reading(
            (Turn(Role.SEEKER, conversation.turns[0].text),),
            tuple(map(str, emotions)),
            conversation=conversation.id,
        )


def _turns_by(attribute: str, conversation: Conversation) -> Iterator[Reading]:
    for position, turn in enumerate(conversation.turns):
        label = getattr(turn, attribute)
        if label is not None:
            yield Reading(
                (Turn(turn.speaker, turn.text),), (label,), conversation=conversation.id, position=position
            )


def _listener_intents(conversation: Conversation) -> Iterator[Reading]:
    """The supporter's turns only. Their labels come from a classifier that sometimes chose an emotion instead
    of an intent; such turns are left out, while a label that is neither is unknown."""
    for reading in _turns_by("intent", conversation):
        if reading.turns[0].speaker is Role.SUPPORTER and reading.label not in sets.ED_EMOTIONS:
            yield reading


def strategy_reading(turns: Sequence[Turn]) -> Reading:
    """What the strategy head reads of a conversation so far: its latest turns in full, of all others the strategies."""
    told = tuple(replace(turn, author=None) for turn in turns)
    return Reading(told[-STRATEGY_TURNS:], position=len(told), earlier=told[:-STRATEGY_TURNS])


def _strategies(conversation: Conversation) -> Iterator[Reading]:
    """What the supporter does next, from the turns before; a first turn has nothing to go by."""
    for position, turn in enumerate(conversation.turns):
        if (
            position
            and turn.speaker is Role.SUPPORTER
            and turn.strategy is not None
            and not is_missed(conversation, position)
        ):
            before = strategy_reading(conversation.turns[:position])
            yield replace(before, labels=(turn.strategy,), conversation=conversation.id)


def _topic(conversation: Conversation) -> Iterator[Reading]:
    topic = conversation.labels.get("topic")
    if topic is not None and conversation.turns:
        yield Reading((conversation.turns[0],), (str(topic),), conversation=conversation.id)


def _risk(conversation: Conversation) -> Iterator[Reading]:
    risk = conversation.labels.get("risk")
    if risk is not None and conversation.turns:
        yield Reading((conversation.turns[0],), (str(risk),), conversation=conversation.id)


def _dangers(conversation: Conversation) -> Iterator[Reading]:
    """Every message of the person, with all that was said before it."""
    kind = str(conversation.labels.get("danger"))
    for place, level in enumerate(conversation.labels.get("levels", ())):
        if level is not None:
            label = kind if level == "clear" else str(level)
            yield Reading(
                conversation.turns[: place + 1], (label,), conversation=conversation.id, position=place
            )


def _whose(conversation: Conversation) -> Iterator[Reading]:
    """Of the messages that speak of danger."""
    for reading in _dangers(conversation):
        if reading.label != sets.DANGERS[0]:
            yield replace(reading, labels=(str(conversation.labels["whose"]),))


def _all_clear(conversation: Conversation) -> Iterator[Reading]:
    """Answers to our own question; and messages that are dangerous themselves, which are none."""
    if "answer" in conversation.labels:
        answer = sets.ALL_CLEAR[conversation.labels["answer"] == "all-clear"]
        yield Reading(conversation.turns, (answer,), conversation=conversation.id)
        return
    asked = conversation.labels.get("shape") == "answered no"
    for reading in _dangers(conversation):
        if len(reading.turns) < 3:
            continue
        if reading.label != sets.DANGERS[0]:
            yield replace(reading, labels=(sets.ALL_CLEAR[0],))
        elif asked and len(reading.turns) == len(conversation.turns):
            yield replace(reading, labels=(sets.ALL_CLEAR[1],))


def _mechanism(name: str, conversation: Conversation) -> Iterator[Reading]:
    judgement = conversation.labels.get(name)
    if not isinstance(judgement, Mapping) or len(conversation.turns) < 2:
        return
    yield Reading(
        conversation.turns[:2],
        (str(judgement.get("level")),),
        tuple(map(str, judgement.get("rationales", ()))),
        conversation=conversation.id,
        position=1,
    )


_ALL = (
    Head(
        "ed-emotion", sets.ED_EMOTIONS, "ed", Reads.DESCRIPTION,
        "which of 32 emotions a described situation brought", _emotion_from_description,
    ),
    Head(
        "ed-emotion-turns", sets.ED_EMOTIONS, "ed", Reads.SEEKER_TURNS,
        "the same 32 emotions, from what the seeker says in the conversation", _emotion_from_turns,
    ),
    Head(
        "ed-emotion-16", sets.ED_GROUPS, "ed", Reads.DESCRIPTION,
        "the 32 emotions in 16 groups", partial(_emotion_from_description, groups=sets.ED_GROUP_OF),
        base="ed-emotion", groups=sets.ED_GROUP_OF,
    ),
    Head(
        "ed-polarity", sets.POLARITIES, "ed", Reads.DESCRIPTION,
        "MIME's split of the 32 emotions into positive and negative",
        partial(_emotion_from_description, groups=sets.POLARITY_OF), base="ed-emotion", groups=sets.POLARITY_OF,
    ),
    Head(
        "ed-emotion-cut", sets.ED_EMOTIONS, "ed", Reads.DESCRIPTION,
        "ED-CUT: without the descriptions that contain their own label",
        partial(_emotion_from_description, cut=True), base="ed-emotion",
    ),
    Head(
        "goemotions", sets.GO_EMOTIONS, "goemotions", Reads.TURN,
        "which of 27 emotions a comment shows (one or more), or none", _comment, multi_label=True,
    ),
    Head(
        "dailydialog-act", sets.DAILY_ACTS, "dailydialog", Reads.TURN,
        "what an utterance does: inform, ask, direct or commit", partial(_turns_by, "intent"),
    ),
    Head(
        "dailydialog-emotion", sets.DAILY_EMOTIONS, "dailydialog", Reads.TURN,
        "which of 6 emotions an everyday utterance shows, or none", partial(_turns_by, "emotion"),
    ),
    Head(
        "intent", sets.INTENTS, "ed-intents", Reads.TURN,
        "what a listener's turn does for the speaker: 8 intents, or neutral", _listener_intents,
    ),
    Head(
        "strategy", sets.STRATEGIES, "esconv", Reads.CONVERSATION,
        "which of 8 support strategies comes next", _strategies,
    ),
    Head(
        "topic", sets.TOPICS, "20news", Reads.TURN, "which of 20 newsgroups a post is from", _topic,
    ),
    Head(
        "risk", sets.RISKS, "risk-cases", Reads.TURN,
        "whether a single message shows that somebody is in danger", _risk,
    ),
    Head(
        "danger", sets.DANGERS, "crisis-talks", Reads.MESSAGE,
        "whether somebody is in danger now, and in which: the crisis screen", _dangers,
    ),
    Head(
        "whose", sets.WHOSE, "crisis-talks", Reads.MESSAGE,
        "whether it is the person's own danger or somebody else's", _whose,
    ),
    Head(
        "all-clear", sets.ALL_CLEAR, "crisis-talks", Reads.MESSAGE,
        "whether a message honestly says that there is no danger, or no longer", _all_clear,
    ),
    *(
        Head(
            f"epitome-{mechanism.replace('_', '-')}", sets.LEVELS, "epitome", Reads.PAIR,
            f"how strongly a response shows {mechanism.replace('_', ' ')} (0 none, 1 weak, 2 strong), and where",
            partial(_mechanism, mechanism), rationales=True,
        )
        for mechanism in sets.MECHANISMS
    ),
)  # fmt: skip

HEADS: Mapping[str, Head] = {each.name: each for each in _ALL}
