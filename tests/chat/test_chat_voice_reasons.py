"""What `/why` says of a voice: whose words a candidate is, and why there are none."""

from __future__ import annotations

from rich.console import Console

from allears.chat.why_view import why
from allears.listener.contract import Proposal, Ranked, Why


def shown(reasons: Why) -> str:
    console = Console(width=100)
    with console.capture() as capture:
        console.print(why(reasons.to_dict()))
    return capture.get()


def test_a_candidate_of_a_voice_says_whose_it_is():
    candidates = (
        Ranked(Proposal("What a week.", "default", "Others"), 0.7, 0.6, ("good 0.70, off 0.10",)),
        Ranked(Proposal("What happened?", "cards", "Question"), 0.5, 1.0),
    )
    text = shown(Why("reply", candidates=candidates, voice="default"))
    assert "by default, good 0.70, off 0.10" in text
    assert "by cards" not in text


def test_a_voice_that_failed_says_why():
    text = shown(Why("reply", voice="remote", trouble="the endpoint does not answer"))
    assert "why the voice remote said nothing" in text
    assert "the endpoint does not answer" in text
