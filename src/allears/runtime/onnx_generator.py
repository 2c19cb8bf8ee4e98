"""The light runtime's generator: a bundle's voice on onnxruntime and NumPy, without torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import onnxruntime

from allears.decoding import VOICE_SETTINGS, AlphaTable, Reorder, State, Step, TwoBranches
from allears.errors import AllearsError
from allears.runtime.generating import StrategyGenerator, WritingRequest
from allears.runtime.generator import STRATEGIES, Generated, Likelihood, Prompt
from allears.runtime.onnx_encoder import EncodedText, OnnxEncoder
from allears.runtime.opened_bundle import Bundle, BundlePart
from allears.runtime.prompt_layout import PersonaPlace, PromptRows, prompt_rows
from allears.runtime.replies import Vocabulary
from allears.runtime.voice_card import (
    MEMORY_FILE,
    MIX,
    MIX_FILE,
    STEP_FILE,
    VOICE_FILES,
    BundledVoiceCard,
    state_names,
)
from allears.text.layout import Ids, Row, pad_flat
from allears.text.tokenizer import WordPiece

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SourceStates:
    """What a decoder reads: states [G, S, d], the tokens that they stand for and their mask [G, S]."""

    states: Floats
    ids: Ids
    mask: Ids


@dataclass(frozen=True, slots=True)
class WritingState:
    """Before the next word: what every step reads of G sources, and what was written in R rows. Row r reads source
    r mod G."""

    ids: Ids
    source: Mapping[str, Floats]
    cache: tuple[Floats, ...]

    def rows(self, rows: Sequence[int]) -> WritingState:
        """Those rows. Their sources are shared as long as each row finds its own in its new place."""
        cache, sources = tuple(part[list(rows)] for part in self.cache), len(self.ids)
        wanted = [row % sources for row in rows]
        if not len(wanted) % sources and wanted == [place % sources for place in range(len(wanted))]:
            return WritingState(self.ids, self.source, cache)
        return WritingState(
            self.ids[wanted], {name: part[wanted] for name, part in self.source.items()}, cache
        )


@dataclass(frozen=True, slots=True)
class _Read:
    """A prompt as the encoder saw it; no persona where none is known, or none is read."""

    context: EncodedText
    persona: EncodedText | None


class OnnxGenerator(StrategyGenerator[_Read], BundlePart):
    """A bundle as a `Generator`: `OnnxGenerator.from_bundle("default")`.

    It reads with the bundle's one encoder, which a ranker of the same bundle may have opened already. Prompts that read
    alike (three strategies for one moment) are read once and written together; all others by themselves, so that
    company changes nothing. (It would save little: a CPU is busy with the words of one.)
    """

    own_settings = VOICE_SETTINGS

    def __init__(
        self,
        card: BundledVoiceCard,
        tokenizer: WordPiece,
        encoder: OnnxEncoder,
        mix: onnxruntime.InferenceSession | None,
        memory: onnxruntime.InferenceSession,
        step: onnxruntime.InferenceSession,
    ):
        self.card, self.tokenizer, self.encoder = card, tokenizer, encoder
        self.mix, self.memory, self.decoder = mix, memory, step
        self.vocabulary = Vocabulary(tokenizer, card.words)
        self._source_names, cache = state_names(card)
        self._cache_names = cache
        self._outputs = ["logits", *(f"new_{name}" for name in cache)]
        self._mixes = any(item.name == MIX for item in step.get_inputs())

    @classmethod
    def of(cls, bundle: Bundle) -> Self:
        bundle.part("generator", VOICE_FILES, "--voice GENERATOR_RUN")
        card = BundledVoiceCard.read(bundle.folder)
        bundle.fits("generator", card.size)
        step = bundle.graph(STEP_FILE, bundle.threads, many_small_runs=True)
        _check_step(bundle.folder / STEP_FILE, step, card)
        mix = bundle.graph(MIX_FILE, 1) if card.place is PersonaPlace.BESIDE else None
        memory = bundle.graph(MEMORY_FILE, bundle.threads)
        return cls(card, bundle.tokenizer, bundle.encoder, mix, memory, step)

    @property
    def has_branches(self) -> bool:
        return self.mix is not None

    def _batches(self, request: WritingRequest) -> Iterator[tuple[list[int], _Read]]:
        reads = self._read(request.prompts)
        alike: dict[tuple[int, bool], list[int]] = {}
        for row, prompt in enumerate(request.prompts):
            alike.setdefault((id(reads[row]), prompt.strategy is not None), []).append(row)
        return ((rows, reads[rows[0]]) for rows in alike.values())

    def _cut(self, prompts: Sequence[Prompt]) -> Iterator[tuple[list[int], _Read]]:
        return (([row], read) for row, read in enumerate(self._read(prompts)))

    def _write_batch(self, request: WritingRequest, data: _Read) -> list[list[Generated]]:
        step, state, reorder = self._begin(data, _used(request.table, request.prompts))
        start = np.full(len(request.prompts), self.card.start, np.int64)
        return self._replies(request, step, reorder(state, [0] * len(start)), start, reorder)

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        reads, pieces = self._read(prompts), self.tokenizer.encode_many(list(responses))

        def likelihood(row: int) -> Likelihood:
            strategy = prompts[row].strategy
            target = [*pieces[row], self.tokenizer.end][: self.card.limits.response_tokens]
            first = [] if strategy is None else [self.vocabulary.strategies[strategy]]
            state, total, token = self.begin(self._source(reads[row])), 0.0, self.card.start
            for place, wanted in enumerate((*first, *target)):
                likely, state = self.step(np.array([token]), state)
                total += float(likely[0, wanted]) if place >= len(first) else 0.0
                token = wanted
            return Likelihood(total, len(target), cut=target[-1] != self.tokenizer.end)

        return [likelihood(row) for row in range(len(prompts))]

    def _strategy_shares(self, data: _Read) -> list[list[float]]:
        likely, _ = self.step(np.array([self.card.start]), self.begin(self._source(data)))
        own = np.exp(likely[0, self.card.words : self.card.words + len(STRATEGIES)].astype(np.float64))
        return [(own / own.sum()).tolist()]

    # --- reading

    def _read(self, prompts: Sequence[Prompt]) -> list[_Read]:
        """What the encoder makes of each prompt; those that read alike are one and the same object."""
        free = [replace(prompt, strategy=None) for prompt in prompts]
        rows = prompt_rows(
            free, self.tokenizer, self.card.limits, self.card.place, turns=self.card.context_turns
        )
        texts = self._encoded([row for each in rows for row in each if row[0]])
        found: dict[tuple[bytes, bytes], _Read] = {}
        return [
            found.setdefault(_key(each), _Read(texts[_bytes(each.context)], texts.get(_bytes(each.persona))))
            for each in rows
        ]

    def _encoded(self, rows: Sequence[Row]) -> dict[bytes, EncodedText]:
        different = {_bytes(row): row for row in rows}
        if not different:
            return {}
        tokens = pad_flat(list(different.values()), self.tokenizer.pad)
        return dict(zip(different, self.encoder.texts(tokens), strict=True))

    def _begin(self, read: _Read, alphas: AlphaTable) -> tuple[Step, State, Reorder]:
        """A search's step, its state of one row, and how rows of it are picked."""
        if read.persona is None or not any(alphas.by_strategy.values()):
            return self.step, self.begin(self._source(read)), WritingState.rows
        branches = TwoBranches(
            self.step,
            alphas.by_token(self.vocabulary.strategies),
            reorder=WritingState.rows,
            mixed_step=self.step if self._mixes else None,
        )
        both = self.begin(self.mixed(read.context, read.persona, without=True))
        return branches.step, branches.begin(both, np.zeros(1, np.int64)), branches.reorder

    def _source(self, read: _Read) -> SourceStates:
        """One source: the dialogue, with the persona if it is known."""
        if read.persona is not None:
            return self.mixed(read.context, read.persona, without=False)
        ids = read.context.ids[None]
        return SourceStates(read.context.states[None], ids, np.ones_like(ids))

    def mixed(self, dialogue: EncodedText, persona: EncodedText, *, without: bool) -> SourceStates:
        """Dialogue and persona (PAL's equations 2 to 4); then, of the same shape, as if no persona were known."""
        assert self.mix is not None
        count = 1 + without
        feed: dict[str, Any] = {}
        for name, text in (("dialogue", dialogue), ("persona", persona)):
            feed[name] = np.repeat(text.states[None], count, 0)
            feed[f"{name}_ids"] = np.repeat(text.ids[None], count, 0)
            feed[f"{name}_mask"] = np.ones((count, len(text.ids)), np.int64)
        feed["persona_mask"][1:] = 0
        known = {
            item.name for item in self.mix.get_inputs()
        }  # an aligned mixture has no use for a persona's ids
        feed = {name: part for name, part in feed.items() if name in known}
        return SourceStates(*self.mix.run(["states", "ids", "mask"], feed))

    # --- writing

    def begin(self, source: SourceStates) -> WritingState:
        """The state before anything is written, a row for each source."""
        feed = {"states": source.states, "ids": source.ids, "mask": source.mask}
        known = dict(zip(self._source_names, self.memory.run(self._source_names, feed), strict=True))
        nothing = np.zeros(
            (len(source.ids), self.card.heads, 0, self.card.size // self.card.heads), np.float32
        )
        return WritingState(source.ids, known, (nothing,) * len(self._cache_names))

    def step(
        self, tokens: Any, state: WritingState, mix: Floats | None = None
    ) -> tuple[Floats, WritingState]:
        """log P [R, V] of the next word after one more token [R]; with weights `mix` [O, R], mix @ log P [O, V]."""
        feed = {"tokens": tokens, "ids": state.ids, **state.source}
        if self._mixes:
            feed[MIX] = np.eye(len(tokens), dtype=np.float32) if mix is None else mix
        feed |= zip(self._cache_names, state.cache, strict=True)
        logits, *cache = self.decoder.run(self._outputs, feed)
        return logits, WritingState(state.ids, state.source, tuple(cache))


def _used(alphas: AlphaTable, prompts: Sequence[Prompt]) -> AlphaTable:
    """The same table; zeros, if these prompts prescribe strategies of alpha 0 only: nobody needs two branches then."""
    free = any(prompt.strategy is None for prompt in prompts)
    return alphas if free or any(alphas.of(str(prompt.strategy)) for prompt in prompts) else alphas.all(0.0)


def _bytes(row: Row) -> bytes:
    """A row of tokens and segments as a key."""
    return np.array(row, np.int64).tobytes()


def _key(rows: PromptRows) -> tuple[bytes, bytes]:
    return _bytes(rows.context), _bytes(rows.persona)


def _check_step(path: Path, graph: onnxruntime.InferenceSession, card: BundledVoiceCard) -> None:
    """The graph has what its card promises; else the first word would be a riddle."""
    takes = {item.name: item.shape for item in graph.get_inputs()}
    gives = {item.name: item.shape for item in graph.get_outputs()}
    source, cache = state_names(card)
    fits = (
        set(takes) - {MIX} == {"tokens", "ids", *source, *cache}
        and takes["memory"][-1] == card.size
        and takes["keys_0"][1] == card.heads
        and set(gives) == {"logits", *(f"new_{name}" for name in cache)}
        and gives["logits"][-1] == card.vocabulary
    )
    if not fits:
        raise AllearsError(
            f"{path}: the graph is of another decoder than voice.json says; export the bundle again"
        )
