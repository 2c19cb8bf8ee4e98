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
        Ranked(Proposal("What a week.", "default", "Others"), 1.0, 2.0, ("takes up week +0.30",)),
        Ranked(Proposal("What happened?", "pool", "Question"), 0.5, 1.0),
    )
    text = shown(Why("reply", candidates=candidates, voice="default"))
    assert "by default, takes up week +0.30" in text
    assert "by pool" not in text


def test_a_voice_that_failed_says_why():
    text = shown(Why("reply", voice="remote", trouble="the endpoint does not answer"))
    assert "why the voice remote said nothing" in text
    assert "the endpoint does not answer" in text
