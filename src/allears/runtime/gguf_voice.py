"""A language model in a GGUF file as a generator, written by llama.cpp on this machine.

With an adapter of ours (its card lies beside it) a conversation is laid out as `talk_layout` says; any other file is
asked through its own chat template, with what `remote` tells an endpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NoReturn

from allears.decoding import Settings
from allears.errors import AllearsError
from allears.runtime.generating import SeededGenerator, WritingRequest
from allears.runtime.generator import Generated, Prompt
from allears.runtime.gguf_card import card_of
from allears.runtime.gguf_engine import GgufEngine, GgufOptions, Piece, PromptTooLongError
from allears.runtime.remote import messages, without_tag
from allears.runtime.talk_layout import END, START, prompt_text, split_reply, system_text

__all__ = ["GgufOptions", "GgufVoice"]

STOP = (END, START, "<|endoftext|>")
STRATEGY_TOKENS = 16  # a reply's strategy in brackets; beside `longest`
TURNS_AT_ONCE = 8  # left out together, so that the beginning of a long conversation changes seldom
TURN_LETTERS = 2000  # of a turn, its end
BYTES_A_TOKEN = 3  # or more, of nearly all texts
SILENT_TRIES = 3


class GgufVoice(SeededGenerator):
    """What `settings` ask for that llama.cpp does not know (blocked n-grams, a shortest length, a consensus) is left
    out, and beam search is greedy. Safe to ask from several threads: they are answered one after the other."""

    default_settings: ClassVar[Settings] = Settings(
        temperature=0.7, top_p=0.9, repetition_penalty=1.03, longest=64
    )

    def __init__(self, options: GgufOptions):
        self.options = options
        self.own_settings = self.default_settings
        self.ours = options.adapter is not None and card_of(options.adapter) is not None
        self.engine = GgufEngine(options, show_marks=self.ours)

    def stream(
        self,
        prompt: Prompt,
        settings: Settings | None = None,
        seed: int = 0,
        *,
        cancelled: Callable[[], bool] | None = None,
    ) -> Iterator[str]:
        """The raw text of one reply, piece by piece: its strategy in brackets first where the prompt prescribes none
        (`split` takes it apart).

        Args:
            cancelled: Asked before every token, also from another thread; after a yes the model is free for others.
        """
        for piece in self._pieces(prompt, settings or self.default_settings, seed, {}, cancelled):
            if piece.text:
                yield piece.text

    def split(self, written: str) -> tuple[str, str]:
        """A whole raw text as (strategy, reply); the strategy is "" where none was named."""
        if self.ours:
            return split_reply(written)
        text, named = without_tag(written)
        return named, text

    def close(self) -> None:
        """Give the memory back; the voice cannot be used any more."""
        self.engine.close()

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> NoReturn:
        raise AllearsError(
            "llama.cpp's server does not say how likely it finds a given response, so a GGUF voice has no perplexity; "
            "measure the run folder that it was exported from"
        )

    def _write(self, request: WritingRequest) -> list[list[Generated]]:
        self._check_alphas(request.alphas, "GGUF")
        if request.count > 1 and request.settings.method != "sample":
            raise AllearsError(
                f"a GGUF voice has only one {request.settings.method} answer; for {request.count} of them use sample"
            )
        return [
            [self._one(prompt, request.settings, seed + number) for number in range(request.count)]
            for prompt, seed in zip(request.prompts, request.seeds, strict=True)
        ]

    def _one(self, prompt: Prompt, settings: Settings, seed: int) -> Generated:
        for attempt in range(SILENT_TRIES):
            told = list(self._pieces(prompt, settings, seed + attempt * 1_000_003, {"logprobs": 1}, None))
            named, text = self.split("".join(piece.text for piece in told))
            if text:
                cut = bool(told) and told[-1].finish == "length"
                log_probability = sum(piece.log_probability for piece in told)
                return Generated(text, prompt.strategy or named, log_probability, cut)
        raise AllearsError(f"{self.options.model.name} answered without a word, {SILENT_TRIES} times")

    def _pieces(
        self,
        prompt: Prompt,
        settings: Settings,
        seed: int,
        more: dict[str, Any],
        cancelled: Callable[[], bool] | None,
    ) -> Iterator[Piece]:
        longest = settings.longest + (0 if prompt.strategy and self.ours else STRATEGY_TOKENS)
        room = BYTES_A_TOKEN * (self.options.context - longest)
        body = {
            **_sampling(settings, seed),
            "max_tokens": longest,
            "cache_prompt": not self.options.reproducible,
        }
        body |= more
        prompt = replace(
            prompt, turns=tuple(replace(turn, text=turn.text[-TURN_LETTERS:]) for turn in prompt.turns)
        )
        while True:
            asked = self._asked(prompt)
            last = len(prompt.turns) <= 1
            if last or len(str(asked).encode()) <= room:
                try:
                    yield from self.engine.pieces({**body, **asked}, chat=not self.ours, cancelled=cancelled)
                except PromptTooLongError as error:
                    if last:
                        raise AllearsError(
                            f"the message is too long for a context of {self.options.context} tokens; shorten it, or "
                            "what is known of the person"
                        ) from error
                else:
                    return
            prompt = replace(prompt, turns=prompt.turns[TURNS_AT_ONCE:] or prompt.turns[-1:])

    def _asked(self, prompt: Prompt) -> dict[str, Any]:
        if not self.ours:
            template = {"enable_thinking": False}
            return {"messages": messages(prompt, len(prompt.turns)), "chat_template_kwargs": template}
        system = system_text(prompt.persona, prompt.own_persona, prompt.days_since)
        return {"prompt": prompt_text(prompt.turns, system, prompt.strategy), "stop": list(STOP)}


def _sampling(settings: Settings, seed: int) -> dict[str, Any]:
    """In llama.cpp's words, and in Hugging Face's order: temperature first."""
    if settings.method != "sample":
        chosen: dict[str, Any] = {"temperature": 0.0, "samplers": ["penalties", "temperature"]}
    else:
        chosen = {
            "temperature": settings.temperature,
            "top_k": settings.top_k or 0,
            "top_p": 1.0 if settings.top_p is None else settings.top_p,
            "min_p": 0.0,
            "samplers": ["penalties", "temperature", "top_k", "top_p"],
        }
    penalty = {"repeat_penalty": settings.repetition_penalty, "repeat_last_n": settings.longest}
    return {**chosen, **penalty, "seed": seed % 2**31}
