"""What every extractor that writes has in common, in torch or without: from utterances to checked sentences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

from allears.decoding import State, Step, beam_search, greedy
from allears.personas.constraint import Lexicon, SourceConstraint
from allears.personas.lengths import Lengths
from allears.personas.passages import passages
from allears.personas.support import content_words, said_bases, supports, word_list
from allears.personas.wording import persona_sentences, spell
from allears.personas.worries import worries
from allears.text.tokenizer import WordPiece


class WritingCard(Protocol):
    """How an extractor decides and writes."""

    @property
    def lengths(self) -> Lengths: ...
    @property
    def threshold(self) -> float: ...
    @property
    def framing_price(self) -> float: ...


class WritingExtractor(ABC):
    """A gate that tells whether to write, and something that writes: a `PersonaExtractor`."""

    card: WritingCard
    tokenizer: WordPiece
    beam: int  # 1 is greedy

    @abstractmethod
    def told(self, parts: Sequence[str]) -> list[str]:
        """What each part of an utterance tells, as one text; empty where the gate stays shut."""

    def extract(self, utterances: Sequence[str]) -> list[tuple[str, ...]]:
        """For each utterance of one person, the persona sentences it tells; () where it tells nothing."""
        owners, parts = [], []
        for number, utterance in enumerate(utterances):
            if word_list(utterance):  # without a word there is nothing to tell
                found = passages(utterance, self.tokenizer, self.card.lengths.utterance_tokens)
                owners += [number] * len(found)
                parts += found
        sentences: list[dict[str, None]] = [{} for _ in utterances]
        for owner, part, text in zip(owners, parts, self.told(parts), strict=True):
            said, weighing = said_bases(part), worries(part)
            told = set().union(*map(content_words, weighing))
            # a sentence of framing words alone ("I like to work.") is nobody's; a worry says what it says, and more
            written = (each for each in persona_sentences(text) if not set(content_words(each)) <= told)
            sentences[owner] |= dict.fromkeys(sentence for sentence in written if supports(sentence, said))
            sentences[owner] |= dict.fromkeys(weighing)
        return [tuple(each) for each in sentences]

    def search(
        self, step: Step, state: State, start: Any, parts: Sequence[str], lexicon: Lexicon
    ) -> list[str]:
        """The likeliest texts in the words of their sources; `start` [B] is the first token of each."""
        constraint = SourceConstraint(lexicon, parts, framing_price=self.card.framing_price)
        limit, end = self.card.lengths.persona_tokens, self.tokenizer.end
        if self.beam == 1:
            found = greedy(step, state, start, end=end, limit=limit, constraint=constraint)
        else:
            found = beam_search(
                step, state, start, end=end, limit=limit, width=self.beam, constraint=constraint
            )
        return [
            spell([self.tokenizer.backend.id_to_token(token) or "" for token in written.tokens], part)
            for written, part in zip(found, parts, strict=True)
        ]
