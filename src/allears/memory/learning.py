"""What a stored message changes in what is known about a person.

A writer hands over the persona as its copy of the conversation has it. Since that copy was loaded, the person may
have edited or forgotten sentences elsewhere: in the web app, in another conversation. So a loaded copy carries the
person's `revision` in its labels, and what happened after it is never undone by an older copy:

- a sentence that was touched since stays, though the copy lacks it;
- a sentence that the copy has from an earlier turn and we do not was forgotten since, and stays forgotten.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from allears.conversation import Persona, PersonaSentence
from allears.memory.sentences import Known, Sentences, from_elsewhere, turn_of
from allears.personas.contradiction import contradiction
from allears.personas.memory import EDITED, merge

REVISION_LABEL = "memory_revision"
_UNKNOWN = -1  # a copy that did not come from `load` removes nothing


def revision_of(labels: Mapping[str, Any]) -> int:
    """The revision a copy was loaded at."""
    found = labels.get(REVISION_LABEL, _UNKNOWN)
    return found if isinstance(found, int) else _UNKNOWN


def take_in(about: Sentences, conversation: int, persona: Persona, *, after: int, seen: int) -> set[int]:
    """Bring what a conversation knows up to its newest copy, loaded at revision `seen`. The keys of what is new."""
    current = about.of(conversation)
    told = {sentence.text for sentence in persona.sentences}
    have = {known.text for known in current}
    behind = seen != about.revision()
    missing = [known for known in current if known.text not in told and known.touched <= seen]
    kept_by_hand = [known.text for known in current if known.edited and known.touched > seen]
    new = [
        sentence
        for sentence in dict.fromkeys(persona.sentences)
        if sentence.text not in have
        and not (behind and _is_old(sentence, after, seen))
        and not any(contradiction(text, sentence.text) for text in kept_by_hand)
    ]
    learned = [about.insert(sentence, conversation=conversation) for sentence in new]
    for sentence in learned:
        about.link(conversation, sentence.key, len(persona.sentences), max(seen, 0))
    _take_out(about, conversation, missing, learned)
    _put_in_order(about, conversation, persona)
    return {sentence.key for sentence in learned}


def remember(about: Sentences, conversation: int, learned: Collection[int] | None) -> None:
    """Let sentences of one conversation be known in all later ones, unless that is said there already.

    `learned` are their keys; None stands for all that were said in the conversation.
    """
    here = about.of(conversation)
    candidates = [each for each in here if each.conversation == conversation and not each.remembered]
    for candidate in candidates:
        if learned is not None and candidate.key not in learned:
            continue
        # whoever learned it held it against what this conversation knows; what is left is what only others know
        known_here = {each.key for each in here}
        elsewhere = [each for each in about.remembered() if each.key not in known_here]
        known = {each.as_persona(None): each for each in elsewhere}
        mine = candidate.as_persona(conversation)
        merged = merge(Persona(tuple(known)), [mine])
        if mine not in merged.persona.sentences:
            continue  # said already, or the person's own words stand against it
        reasons = {change.old: change.reason for change in merged.changes}
        for sentence in set(known) - set(merged.persona.sentences):
            about.replace(known[sentence], candidate.key, reasons.get(sentence, EDITED))
            about.next_revision()
        about.change([candidate.key], remembered=True)


def take_back(about: Sentences, conversation: int, turn: int) -> None:
    """Unlearn what a conversation's turns from `turn` on told. What those had replaced is live again.

    Sentences the person edited are their own by now, and stay.
    """
    told = [
        each
        for each in about.all()
        if each.conversation == conversation and each.turn is not None and each.turn >= turn
    ]
    about.change([each.key for each in told if each.edited], turn=None)
    about.delete_alone(each.key for each in told if not each.edited)
    about.next_revision()


def _is_old(sentence: PersonaSentence, after: int, seen: int) -> bool:
    """Whether a sentence was there before these turns, so that we would know it if it still held."""
    turn = turn_of(sentence.source)
    if turn is not None:
        return turn <= after
    return from_elsewhere(sentence.source) or seen != _UNKNOWN


def _take_out(about: Sentences, conversation: int, missing: list[Known], learned: list[Known]) -> None:
    """What a new sentence contradicts becomes its history; everything else was forgotten on purpose."""
    for old in missing:
        known_elsewhere = about.conversations_of(old.key) - {conversation}
        reasons = ((new, contradiction(old.text, new.text)) for new in learned)
        new, reason = next(((new, why) for new, why in reasons if why), (None, None))
        if new is None or reason is None:
            about.drop([old.key])
        else:
            about.replace(old, new.key, reason)
            if old.remembered:
                about.change([new.key], remembered=True)
        if known_elsewhere:
            about.next_revision()


def _put_in_order(about: Sentences, conversation: int, persona: Persona) -> None:
    places = {sentence.text: position for position, sentence in enumerate(persona.sentences)}
    current = about.of(conversation)
    wanted = sorted(current, key=lambda known: places.get(known.text, len(places)))
    if current != wanted:
        for position, known in enumerate(wanted):
            about.place(conversation, known.key, position)
