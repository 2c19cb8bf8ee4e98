"""ESConv (Liu et al. 2021): people in distress and trained supporters, a strategy on every supporter message.

Three corpora share one record: ESConv itself, the 196 conversations its authors judged failed, and PESConv
(Cheng et al. 2023), which adds what a model inferred about the seeker.

Layouts, all JSON arrays: `esconv/{split}.json` and `pesconv/{split}.json`; the official single files are
`ESConv.json` and `PESConv.json` (split "all") and `FailedESConv.json` (split "failed", also
`esconv/failed.json`). Survey scores are kept flat, as `seeker_empathy`, and missing where nobody gave one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora.corpus import CorpusInfo, Download
from allears.corpora.files import CorpusError, OnBad, Source, locate, raise_bad
from allears.corpora.json_files import Record, field, json_array, text_field, texts
from allears.labels import STRATEGIES

# The failed conversations are older: some strategies have the names of an earlier guideline.
_STRATEGY_NAMES = {name.lower(): name for name in STRATEGIES} | {
    "questions": "Question",
    "restatement": "Restatement or Paraphrasing",
    "approval and reassurance": "Affirmation and Reassurance",
    "direct guidance": "Providing Suggestions",
    "other": "Others",
}
_ROLES = {
    "seeker": Role.SEEKER,
    "speaker": Role.SEEKER,
    "supporter": Role.SUPPORTER,
    "listener": Role.SUPPORTER,
}
_REMARKS = (
    "experience_type",
    "seeker_question1",
    "seeker_question2",
    "supporter_question1",
    "supporter_question2",
)
_PAGE = "https://github.com/thu-coai/Emotional-Support-Conversation"
_FILES = "https://raw.githubusercontent.com/thu-coai/Emotional-Support-Conversation/main"


class ESConv:
    info = CorpusInfo(
        name="esconv",
        title="ESConv",
        licence="CC BY-NC 4.0",
        page=_PAGE,
        about="Emotional support conversations with 8 support strategies, seeker feedback and survey scores.",
        splits=("train", "valid", "test", "all"),
        downloads=(Download(url=f"{_FILES}/ESConv.json", file="esconv/ESConv.json"),),
        counts={"train": 910, "valid": 195},
        known={"strategy": STRATEGIES},
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        source = locate(root, ["esconv/ESConv.json"] if split == "all" else [f"esconv/{split}.json"])
        return _conversations(source, "esconv", split, on_bad)


class ESConvFailed:
    """Only one split, "failed". Speakers are called speaker and listener in the file."""

    info = CorpusInfo(
        name="esconv-failed",
        title="ESConv, failed conversations",
        licence="CC BY-NC 4.0",
        page=_PAGE,
        about="The support conversations that ESConv's authors left out because the support failed.",
        splits=("failed",),
        downloads=(Download(url=f"{_FILES}/FailedESConv.json", file="esconv/FailedESConv.json"),),
        counts={"failed": 196},
        known={"strategy": STRATEGIES},
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        source = locate(root, [f"esconv/{split}.json", f"esconv/{split.title()}ESConv.json"])
        return _conversations(source, "esconv-failed", split, on_bad)


class PESConv:
    """`personas["seeker"]` is what was known at the end; a sentence's source is the turn (counted from 1)
    after which the extractor first wrote it. `labels["persona_by_turn"]` is what was known after each
    seeker turn from the third on, as published."""

    info = CorpusInfo(
        name="pesconv",
        title="PESConv",
        licence="not stated",
        page="https://github.com/chengjl19/PAL",
        about="ESConv with persona sentences about the seeker, inferred turn by turn by PAL's extractor.",
        splits=("train", "valid", "test", "all"),
        counts={"valid": 195},
        known={"strategy": STRATEGIES},
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        source = locate(root, ["pesconv/PESConv.json"] if split == "all" else [f"pesconv/{split}.json"])
        return _conversations(source, "pesconv", split, on_bad)


def _conversations(source: Source, corpus: str, split: str, on_bad: OnBad) -> Iterator[Conversation]:
    build = _with_persona if corpus == "pesconv" else _conversation
    for position, line, record in json_array(source, on_bad):
        try:
            conversation = build(record)
        except ValueError as error:
            on_bad(CorpusError(f"record {position}: {error}", source=source, line=line))
        else:
            name = conversation.id or f"{corpus}-{split}-{position}"
            yield replace(conversation, id=name, split=split, source=corpus)


def _conversation(record: Record) -> Conversation:
    turns = tuple(_turn(item) for item in field(record, "dialog", list))
    if not turns:
        raise ValueError("'dialog' is empty")
    return Conversation(
        id=field(record, "id", str) if "id" in record else "",
        turns=turns,
        emotion=text_field(record, "emotion_type"),
        situation=text_field(record, "situation"),
        problem=text_field(record, "problem_type"),
        survey=_survey(field(record, "survey_score", dict)),
        labels={name: record[name] for name in _REMARKS if record.get(name)},
    )


def _turn(item: Any) -> Turn:
    if not isinstance(item, dict):
        raise ValueError(f"a message in 'dialog' must be an object, got {type(item).__name__}")
    speaker = field(item, "speaker", str)
    if speaker not in _ROLES:
        raise ValueError(f"unknown speaker {speaker!r}; expected one of {', '.join(_ROLES)}")
    annotation = item.get("annotation") or {}
    if not isinstance(annotation, dict):
        raise ValueError(f"'annotation' must be an object, got {type(annotation).__name__}")
    strategy = annotation.get("strategy")
    if strategy is not None:
        name = _STRATEGY_NAMES.get(str(strategy).lower())
        if name is None:
            raise ValueError(f"unknown strategy {strategy!r}; expected one of {', '.join(STRATEGIES)}")
        strategy = name
    feedback = annotation.get("feedback")
    return Turn(
        _ROLES[speaker],
        text_field(item, "content"),
        strategy=strategy,
        feedback=None if feedback is None else int(_score(feedback, "feedback")),
    )


def _survey(scores: Record) -> dict[str, float]:
    survey = {}
    for who, answers in scores.items():
        if not isinstance(answers, dict):
            raise ValueError(f"'survey_score' of {who!r} must be an object, got {type(answers).__name__}")
        for question, answer in answers.items():
            if answer not in (None, ""):  # asked, but not answered
                survey[f"{who}_{question}"] = _score(answer, f"{who} {question}")
    return survey


def _score(value: Any, name: str) -> float:
    """Scores are numbers in newer files and texts in older ones."""
    try:
        score = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"the score {name!r} must be a number, got {value!r}")
    return score


def _with_persona(record: Record) -> Conversation:
    conversation = _conversation(record)
    by_turn = [texts(item, "persona_by_turn") for item in field(record, "persona_by_turn", list)]
    first_turn = _first_turns(conversation.turns, by_turn)
    sentences = tuple(
        PersonaSentence(text, first_turn.get(text, "inferred"))
        for text in texts(field(record, "persona", list), "persona")
    )
    return replace(
        conversation,
        personas={Role.SEEKER.value: Persona(sentences)},
        labels={**conversation.labels, "persona_by_turn": by_turn},
    )


def _first_turns(turns: tuple[Turn, ...], by_turn: list[list[str]]) -> dict[str, str]:
    """Which turn each sentence was first written after. The extractor began at the third seeker turn."""
    seeker_turns = [number for number, turn in enumerate(turns, 1) if turn.speaker is Role.SEEKER]
    first: dict[str, str] = {}
    for number, sentences in zip(seeker_turns[2:], by_turn, strict=False):
        for sentence in sentences:
            first.setdefault(sentence, f"turn {number}")
    return first
