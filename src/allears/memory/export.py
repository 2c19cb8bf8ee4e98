"""Everything about a person as JSON values: what `Memory.export` answers with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allears.conversation import Conversation
from allears.memory.learning import REVISION_LABEL
from allears.memory.records import StoredSentence, Summary

FORMAT = "allears memory 1"


@dataclass(frozen=True, slots=True)
class ExportedTalk:
    """A conversation with what only the memory knows: when its turns were stored, and why they were said."""

    summary: Summary
    conversation: Conversation
    said: Sequence[datetime]
    why: Sequence[Mapping[str, Any] | None]


def exported(
    person: str,
    *,
    consent: bool,
    sentences: Sequence[StoredSentence] = (),
    talks: Sequence[ExportedTalk] = (),
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "person": person,
        "consent": consent,
        "persona": [exported_sentence(sentence) for sentence in sentences],
        "conversations": [exported_talk(talk) for talk in talks],
    }


def exported_sentence(sentence: StoredSentence) -> dict[str, Any]:
    return {
        "id": sentence.id,
        "text": sentence.text,
        "source": {"conversation": sentence.conversation, "turn": sentence.turn},
        "created": sentence.created.isoformat(),
        "edited": sentence.edited,
        "remembered": sentence.remembered,
        "history": [
            {"text": earlier.text, "reason": earlier.reason, "until": earlier.until.isoformat()}
            for earlier in sentence.history
        ],
    }


def exported_talk(talk: ExportedTalk) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(talk.conversation.to_json())
    plain["labels"] = {
        name: value for name, value in plain.get("labels", {}).items() if name != REVISION_LABEL
    }
    plain["title"] = talk.summary.title
    plain["started"] = talk.summary.started.isoformat()
    plain["last"] = talk.summary.last.isoformat()
    for turn, said, why in zip(plain["turns"], talk.said, talk.why, strict=True):
        turn["said"] = said.isoformat()
        turn["why"] = why
    return plain
