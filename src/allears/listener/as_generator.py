"""A whole listener as a generator: what it would have said, measured as any generator is.

So its voices can be held against each other by measures that know nothing of a scorer: `allears evaluate generation
listener`, `... listener:chosen`, `... listener:small`.
"""

from __future__ import annotations

from collections.abc import Sequence

from allears.conversation import Conversation, Persona, PersonaSentence, Role
from allears.decoding import AlphaTable, Settings
from allears.errors import AllearsError
from allears.listener.listener import Listener
from allears.runtime.generator import Generated, Likelihood, Prompt, Seed

AT_ONCE = 16


class ListenerGenerator:
    """Always says its best reply; settings, seeds and alphas are its voice's own business."""

    def __init__(self, listener: Listener):
        self.listener = listener

    def generate(
        self,
        prompts: Sequence[Prompt],
        settings: Settings | None = None,
        seed: Seed = 0,
        *,
        count: int = 1,
        alphas: AlphaTable | None = None,
    ) -> list[list[Generated]]:
        if count > 1:
            raise AllearsError(f"a listener gives one reply a turn, not {count}")
        for prompt in prompts:
            if not prompt.turns or prompt.turns[-1].speaker is not Role.SEEKER:
                raise AllearsError("a listener answers what a person said; these turns end with a reply")
        found: list[list[Generated]] = []
        for start in range(0, len(prompts), AT_ONCE):
            part = prompts[start : start + AT_ONCE]
            replies = self.listener.respond_many(
                [prompt.turns[-1].text for prompt in part],
                [_before(prompt) for prompt in part],
                seeds=[0] * len(part),
            )
            found += ([Generated(reply.text, reply.why.strategy, 0.0)] for reply in replies)
        return found

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        """Nobody can say how likely a listener finds a reply: none of them is measured."""
        return [Likelihood(0.0, 0, cut=True) for _ in prompts]


def _before(prompt: Prompt) -> Conversation:
    """The conversation up to the last message, with what is known of the person."""
    known = Persona(tuple(PersonaSentence(text) for text in prompt.persona))
    return Conversation(id="", turns=prompt.turns[:-1], personas={Role.SEEKER.value: known})
