"""Turns that no reply is written for: somebody is in danger, speaks another language, or asks about memory."""

from __future__ import annotations

from collections.abc import Sequence

from allears.conversation import Role
from allears.listener import requests
from allears.listener.contract import ShownChange, Why
from allears.listener.languages import ENGLISH, language_of, reply_in
from allears.listener.recall import Similarity, recalled, told
from allears.listener.turn_state import TurnState
from allears.safety.dangers import SafetyState
from allears.safety.replies import fixed_reply, gentle_question
from allears.safety.screen import CrisisScreen
from allears.safety.state import QUESTION


def screen(turn: TurnState, screens: CrisisScreen, country: str | None, similarity: Similarity) -> None:
    """Danger comes before everything else, and has a fixed text; a doubt adds one question to the reply."""
    state = SafetyState.from_dict(turn.conversation.labels.get("safety", {}))
    before = [each.text for each in turn.conversation.turns if each.speaker is Role.SEEKER]
    turn.language = language_of(turn.message, before)
    found = screens.check(turn.message, turn.conversation.turns, state, english=turn.language == ENGLISH)
    turn.screening = found.to_dict()
    turn.labels = {**turn.conversation.labels, "safety": found.state.to_dict()}
    if found.takes_over:
        said = [each.text for each in turn.conversation.turns if each.speaker is Role.SUPPORTER]
        turn.reply = fixed_reply(found, message=turn.message, said=said, country=country, vectors=similarity)
        turn.why = Why("crisis", turn.screening, seed=turn.seed)
    elif found.answer == QUESTION:
        turn.question = gentle_question(found.danger)


def answer_request(turn: TurnState) -> None:
    """What a person may ask of the memory in plain words."""
    request = requests.asked(turn.message)
    if not request:
        return
    turn.reply, turn.conversation, gone = requests.answer(request, turn.conversation)
    turn.why = Why(
        "forget" if request.startswith("forget") else "memory",
        turn.screening,
        changes=tuple(ShownChange(sentence.text, "", "forgotten") for sentence in gone),
        seed=turn.seed,
    )


def answer_in_their_language(turn: TurnState, country: str | None) -> None:
    """The listener speaks English only, and says so in their language."""
    if turn.language != ENGLISH:
        turn.reply = reply_in(turn.language, country)
        turn.why = Why("language", turn.screening, seed=turn.seed)


def recall(turns: Sequence[TurnState], similarity: Similarity, *, say: bool) -> None:
    """Find the notes that answer a question about what was told; `say` them where no voice will."""
    for turn in turns:
        turn.recalled = recalled(turn.message, turn.persona, similarity)
        if say and turn.recalled:
            turn.reply = told(turn.recalled)
            turn.why = Why("memory", turn.screening, seed=turn.seed)
