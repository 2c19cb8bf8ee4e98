"""What a rater may answer, and what an answer says about the systems behind the letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from allears.study.blocks import REASON, SIDES, TIE, ChoiceQuestion, Free, Likert, Preference, Question
from allears.study.design import Design
from allears.study.errors import NotAnsweredError

LONGEST_TEXT = 8000


def asked_keys(design: Design) -> list[tuple[str, Question]]:
    """Every key that is asked for. With two systems shown a scale is asked for each."""
    keys: list[tuple[str, Question]] = []
    for question in design.questions:
        if isinstance(question, Likert) and design.shown_systems == 2:
            keys += [(f"{question.key}.{side}", question) for side in SIDES]
        else:
            keys.append((question.key, question))
    return keys


def checked(design: Design, answers: Mapping[str, Any]) -> dict[str, Any]:
    """The answers as they are stored. Raises `NotAnsweredError` with the question that is not answered."""
    found: dict[str, Any] = {}
    known: set[str] = set()
    for key, question in asked_keys(design):
        known |= {key, f"{key}{REASON}"}
        value = answers.get(key)
        if value is None or value == "":
            if question.required:
                raise NotAnsweredError(f"Please answer: {question.text}")
            continue
        found[key] = _value(question, value)
        if isinstance(question, ChoiceQuestion):
            option = next(each for each in question.options if each.key == value)
            reason = str(answers.get(f"{key}{REASON}") or "").strip()
            if option.reason and not reason:
                raise NotAnsweredError(f"Please say why: {option.label}")
            if option.reason:
                found[f"{key}{REASON}"] = reason[:LONGEST_TEXT]
    for key in answers:
        if key not in known:
            raise NotAnsweredError(
                "There is an answer to a question that was not asked; load the page again."
            )
    return found


def _value(question: Question, value: Any) -> Any:
    offered = NotAnsweredError(f"Please choose one of the answers that are offered: {question.text}")
    if isinstance(question, Likert):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= question.points:
            raise offered
        return value
    if isinstance(question, Preference):
        if value not in (*SIDES, *((TIE,) if question.tie else ())):
            raise offered
        return value
    if isinstance(question, ChoiceQuestion):
        if value not in {option.key for option in question.options}:
            raise offered
        return value
    return _free(question, value)


def _free(question: Free, value: Any) -> str:
    if not isinstance(value, str):
        raise NotAnsweredError(f"Please answer in words: {question.text}")
    words = len(value.split())
    if words < question.least_words:
        raise NotAnsweredError(f"Please write at least {question.least_words} words: {question.text}")
    if words > question.most_words or len(value) > LONGEST_TEXT:
        raise NotAnsweredError(f"Please write at most {question.most_words} words: {question.text}")
    return value.strip()


def by_system(
    design: Design, answers: Mapping[str, Any], systems: Sequence[str], order: Sequence[int]
) -> list[tuple[str, str, Any]]:
    """(question, system, value) with the letters taken off. A preference names the system it is for, or "tie"."""
    found: list[tuple[str, str, Any]] = []
    shown = {SIDES[place]: systems[which] for place, which in enumerate(order) if which < len(systems)}
    for key, question in asked_keys(design):
        if key not in answers:
            continue
        value = answers[key]
        name, _, side = key.partition(".")
        if isinstance(question, Preference):
            found.append((name, "", shown.get(value, value)))
        elif side:
            found.append((name, shown[side], value))
        else:
            found.append((name, systems[0] if len(systems) == 1 else "", value))
    return found


def vote(design: Design, answers: Mapping[str, Any], systems: Sequence[str], order: Sequence[int]) -> str:
    """The answer to the question that may ask for a fourth rater, whatever the letters were."""
    deciding = design.raters.fourth
    return next(
        (str(value) for name, _, value in by_system(design, answers, systems, order) if name == deciding), ""
    )
