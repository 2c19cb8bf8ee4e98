"""One turn, from the door to the answer. This is the only place that knows the order.

message -> encode -> read -> screen -> remember -> propose -> rank -> review -> reply + why

The encoder runs over two texts, the conversation and the last message; screening, reading, remembering and ranking
share them. Nothing is remembered, proposed or generated before the screen has let a message pass, and one that cannot
be encoded or read is screened all the same.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.errors import AllearsError
from allears.listener import requests
from allears.listener.contract import (
    Change,
    Likely,
    PersonaUse,
    Proposal,
    Proposed,
    Proposer,
    Ranked,
    Reply,
    Request,
    Why,
)
from allears.listener.pool import Line, open_index, read_pool, shipped_pool
from allears.listener.proposers import PoolProposer
from allears.listener.ranking import Moment, Weights, rank
from allears.listener.safety.dangers import SafetyState
from allears.listener.safety.patterns import pattern_table
from allears.listener.safety.reader_head import RISK, ReaderHead
from allears.listener.safety.replies import fixed_reply
from allears.listener.safety.review import review
from allears.listener.safety.screen import CrisisScreen
from allears.listener.senses import Sensed, Senses, mood
from allears.listener.stages import stage, strategies
from allears.selection.evaluate import Watch, unwatched
from allears.selection.runtime import Comparison, EncodedQueries, OnnxSelector, Text
from allears.selection.selector import Query
from allears.understanding.persona.contract import PersonaExtractor, SharesEncoder
from allears.understanding.persona.memory import merge
from allears.understanding.persona.provenance import Extraction, extract_each

CONTEXT_TURNS = 6
LONGEST_MESSAGE = 8_000  # characters that are read; more is refused, not cut
PERSONA = ("said", "written")  # how what a person says of themselves is noted
SHOWN = 10  # candidates in `why`
KEPT_EMOTIONS = 8  # of a mood, from one turn to the next
_WORDS = re.compile(r"\S+\s*")


class Listener:
    """Answers with care, and can say why. It keeps nothing: all state is in the conversation."""

    def __init__(
        self,
        selector: OnnxSelector,
        senses: Senses,
        proposers: Sequence[Proposer],
        *,
        screen: CrisisScreen,
        extractor: PersonaExtractor,
        country: str | None = None,
        weights: Weights = Weights(),  # noqa: B008 - frozen
    ):
        self.selector, self.senses, self.proposers = selector, senses, tuple(proposers)
        self.screen, self.extractor, self.country, self.weights = screen, extractor, country, weights

    @classmethod
    def from_bundle(
        cls,
        bundle: Path | str = "default",
        *,
        pools: Sequence[Path | str] = (),
        shipped: bool = True,
        country: str | None = None,
        threads: int | None = None,
        cache: Path | None = None,
        persona: str = "said",
        watch: Watch = unwatched,
    ) -> Listener:
        """Open a bundle, with the shipped pool and your own `pools` beside it (or, with `shipped=False`, alone).

        The pool's index is built the first time (half a minute) and kept in the cache folder. What a person says of
        themselves is noted in their own words; with `persona="written"`, in those of the bundle's extractor.
        """
        from allears.understanding.persona.copying import CopyingExtractor
        from allears.understanding.persona.runtime import OnnxExtractor
        from allears.understanding.runtime import OnnxReader

        with ThreadPoolExecutor(1) as beside:
            tables = beside.submit(pattern_table)  # the screen's, which are read while the graphs are loaded
            selector = OnnxSelector.from_bundle(bundle, threads=threads)
            tables.result()
        reader = OnnxReader.from_bundle(bundle, selector.encoder, selector.tokenizer)
        if persona not in PERSONA:
            raise AllearsError(f"persona must be one of {', '.join(PERSONA)}, got {persona!r}")
        extractor: PersonaExtractor = CopyingExtractor()
        if persona == "written":
            extractor = OnnxExtractor.from_bundle(bundle, selector.encoder, selector.tokenizer)
        lines: list[Line] = shipped_pool() if shipped else []
        for pool in pools:
            lines += read_pool(pool)
        if not lines:
            raise AllearsError("there is nothing to answer with; name a pool, or leave shipped=False out")
        index = open_index(lines, selector, folder=cache, watch=watch)
        return cls(
            selector,
            Senses(reader, selector.card.limits),
            [PoolProposer(index)],
            screen=CrisisScreen(ReaderHead(reader) if RISK in reader.card.heads else None),
            extractor=extractor,
            country=country,
        )

    def respond(self, message: str, conversation: Conversation | None = None, *, seed: int = 0) -> Reply:
        return self.respond_many([message], [conversation], seeds=[seed])[0]

    async def arespond(
        self, message: str, conversation: Conversation | None = None, *, seed: int = 0
    ) -> Reply:
        import asyncio

        return await asyncio.to_thread(self.respond, message, conversation, seed=seed)

    def stream(
        self, message: str, conversation: Conversation | None = None, *, seed: int = 0
    ) -> Iterator[str | Reply]:
        """The reply word by word, then the whole `Reply`. It is reviewed as a whole before its first word is shown."""
        reply = self.respond(message, conversation, seed=seed)
        yield from _WORDS.findall(reply.text)
        yield reply

    def respond_many(
        self, messages: Sequence[str], conversations: Sequence[Conversation | None], *, seeds: Sequence[int]
    ) -> list[Reply]:
        """Several people at once; what can be encoded together is. The replies are those of one by one."""
        turns = [
            _Turn(_checked(message), conversation or Conversation(id="", turns=()), seed)
            for message, conversation, seed in zip(messages, conversations, seeds, strict=True)
        ]
        unread: Exception | None = None
        try:
            self._sense(turns)
        except Exception as error:  # raised below, unless everybody here is in danger and has their answer
            unread = error
        with clock(turns, "screen"):
            for turn in turns:
                self._screen(turn)
        open_turns = [turn for turn in turns if turn.reply is None]
        if open_turns:
            if unread is not None:
                raise unread
            contexts = [text for turn in open_turns for text in turn.texts]
            with clock(open_turns, "remember"):
                self._remember(open_turns, contexts[1::2])
            with clock(open_turns, "encode"):  # the personas, now that they are known
                encoded = self.selector.encode_queries(
                    [query for turn in open_turns for query in turn.queries], contexts
                )
            with clock(open_turns, "read"):
                self._understand(open_turns)
            with clock(open_turns, "propose"):
                for row, turn in enumerate(open_turns):
                    self._propose(turn, encoded.rows(2 * row, 2 * row + 2))
            with clock(open_turns, "rank"):
                self._rank(open_turns)
            with clock(open_turns, "review"):
                for turn in open_turns:
                    self._decide(turn)
        return [turn.finished() for turn in turns]

    # --- the steps

    def _sense(self, turns: Sequence[_Turn]) -> None:
        """Encodes the conversation and the last message of each turn, and reads them."""
        with clock(turns, "encode"):
            asked = [query for turn in turns for query in turn.queries]
            contexts = self.selector.encode_contexts(asked)
        with clock(turns, "read"):
            sensed = self.senses.read(contexts[::2], contexts[1::2])
            for row, turn in enumerate(turns):
                turn.texts, turn.sensed = contexts[2 * row : 2 * row + 2], sensed[row]

    def _screen(self, turn: _Turn) -> None:
        state = SafetyState.from_dict(turn.conversation.labels.get("safety", {}))
        found = self.screen.check(
            turn.message,
            turn.conversation.turns,
            state,
            read=turn.sensed.risk,
            in_part=turn.sensed.in_part,
        )
        turn.screening = found.to_dict()
        turn.labels = {**turn.conversation.labels, "safety": found.state.to_dict()}
        if found.answer:
            text = fixed_reply(found, country=self.country)
            turn.reply, turn.why = text, Why("crisis", turn.screening, seed=turn.seed)
            return
        request = requests.asked(turn.message)
        if request:
            text, after, gone = requests.answer(request, turn.conversation)
            turn.conversation = after
            turn.reply = text
            turn.why = Why(
                "forget" if request.startswith("forget") else "memory",
                turn.screening,
                changes=tuple(Change(sentence.text, "", "forgotten") for sentence in gone),
                seed=turn.seed,
            )

    def _understand(self, turns: Sequence[_Turn]) -> None:
        """What was read, together with what is known of the conversation."""
        for turn in turns:
            turn.emotions = mood(turn.sensed.emotions, turn.conversation.labels.get("mood", {}), turn.message)
            turn.labels = {**turn.labels, "mood": dict(turn.emotions[:KEPT_EMOTIONS])}
            turn.stage = stage(turn.turns, turn.emotions)
            turn.strategies = strategies(turn.sensed.strategies, turn.stage, turn.turns)

    def _remember(self, turns: Sequence[_Turn], messages: Sequence[Text]) -> None:
        """`messages`: the last message of each, as the encoder read it."""
        extractor = self.extractor
        if isinstance(extractor, SharesEncoder):
            extractor = extractor.knowing(messages)
        said = [(len(turn.conversation.turns) + 1, turn.message) for turn in turns]
        for turn, told in zip(turns, extract_each(extractor, said), strict=True):
            self._learn(turn, told)

    def _learn(self, turn: _Turn, told: Extraction) -> None:
        merged = merge(turn.persona, told.kept)
        turn.learned = tuple(
            sentence for sentence in merged.persona.sentences if sentence not in turn.persona.sentences
        )
        turn.changes = tuple(Change(each.old.text, each.new.text, each.reason) for each in merged.changes)
        turn.persona = merged.persona
        limit = self.selector.card.limits.persona_sentences
        # what was just said is in the context already; the persona is what is known from before
        before = [sentence.text for sentence in merged.persona.sentences if sentence not in turn.learned]
        whole = Query(turn.turns[-CONTEXT_TURNS:], tuple(before[-limit:] if limit else ()))
        turn.queries = (whole, Query(turn.turns[-1:]))

    def _propose(self, turn: _Turn, queries: EncodedQueries) -> None:
        """`queries`: the conversation, and the last message alone. A reply must fit both."""
        turn.encoded = queries
        told = turn.turns, turn.persona, turn.emotions, turn.strategies, turn.stage, turn.seed
        turn.proposed = without_doubles(
            [
                proposer.propose(Request(*told, queries.row(row)))
                for proposer in self.proposers
                for row in range(len(queries))
            ]
        )

    def _rank(self, turns: Sequence[_Turn]) -> None:
        """CoBERT compares the proposals of all turns in one go; the rest of the ranking is each turn's own."""
        comparisons = [
            Comparison(turn.encoded, part.states, part.chosen) for turn in turns for part in turn.proposed
        ]
        scores = iter(self.selector.compare(comparisons))
        for turn in turns:
            proposals = [proposal for part in turn.proposed for proposal in part.proposals]
            fits = np.concatenate([next(scores).mean(axis=0) for _ in turn.proposed])
            moment = Moment(turn.turns, turn.emotions, turn.strategies, turn.stage)
            turn.ranked = _pick(rank(proposals, fits, moment, self.weights), turn.seed)

    def _decide(self, turn: _Turn) -> None:
        kept, refused = self._review(turn.ranked)
        turn.reply, turn.said = kept[0].proposal.text, kept[0].proposal.strategy
        turn.why = Why(
            "reply",
            turn.screening,
            turn.emotions[:5],
            turn.said,
            turn.strategies,
            turn.stage,
            self._persona_use(turn, kept[0].proposal),
            turn.learned,
            turn.changes,
            tuple(kept[:SHOWN]),
            tuple(refused),
            turn.seed,
        )

    def _review(self, ranked: list[Ranked]) -> tuple[list[Ranked], list[str]]:
        """The proposals from the first that our own review lets through, and what it refused."""
        refused: list[str] = []
        for position, item in enumerate(ranked):
            found = review(item.proposal.text)
            if found.ok:
                return ranked[position:], refused
            refused.append(f"{item.proposal.text} ({'; '.join(found.reasons)})")
        raise AllearsError("every proposed reply was refused by the review; add replies to the pool")

    def _persona_use(self, turn: _Turn, said: Proposal) -> tuple[PersonaUse, ...]:
        """How much of the reply's attention (CoBERT's Y2X) fell on each persona sentence."""
        known = turn.queries[0].persona
        if not known:
            return ()
        source = next(each for each in turn.proposed if said in each.proposals)
        candidate = int(source.chosen[source.proposals.index(said)])
        shares = self.selector.persona_attention(turn.encoded, source.states.of(candidate))
        pairs = zip(known, shares, strict=True)
        return tuple(
            sorted((PersonaUse(text, float(share)) for text, share in pairs), key=lambda use: -use.weight)
        )


class _Turn:
    """What becomes known while one message is answered."""

    def __init__(self, message: str, conversation: Conversation, seed: int):
        self.message, self.conversation, self.seed = message, conversation, seed
        self.turns = (*conversation.turns, Turn(Role.SEEKER, message))
        self.persona: Persona = conversation.personas.get(Role.SEEKER.value, Persona())
        self.milliseconds: dict[str, float] = {}
        self.sensed = Sensed()
        self.screening: Mapping[str, Any] = {}
        self.labels: Mapping[str, Any] = conversation.labels
        self.emotions: Likely = ()
        self.strategies: Likely = ()
        self.stage = ""
        self.learned: tuple[PersonaSentence, ...] = ()
        self.changes: tuple[Change, ...] = ()
        self.queries = (Query(self.turns[-CONTEXT_TURNS:]), Query(self.turns[-1:]))
        self.texts: list[Text] = []  # the contexts of the two queries, as the encoder read them
        self.encoded = EncodedQueries([], [], np.zeros((0, 0), np.float32))  # those with their personas
        self.proposed: list[Proposed] = []
        self.ranked: list[Ranked] = []
        self.reply: str | None = None
        self.said = ""  # the strategy of the reply
        self.why = Why("reply")

    def finished(self) -> Reply:
        assert self.reply is not None
        answer = Turn(Role.SUPPORTER, self.reply, strategy=self.said or None)
        personas = self.conversation.personas
        if self.why.kind == "reply" and (self.persona.sentences or Role.SEEKER.value in personas):
            personas = {**personas, Role.SEEKER.value: self.persona}
        after = replace(
            self.conversation, turns=(*self.turns, answer), personas=personas, labels=dict(self.labels)
        )
        return Reply(self.reply, replace(self.why, milliseconds=self.milliseconds), after)


@contextmanager
def clock(turns: Sequence[_Turn], step: str) -> Iterator[None]:
    """Notes how long a step took, all its parts together; several turns at once share it."""
    start = time.perf_counter()
    yield
    share = 1000 * (time.perf_counter() - start) / max(1, len(turns))
    for turn in turns:
        turn.milliseconds[step] = round(turn.milliseconds.get(step, 0.0) + share, 2)


def without_doubles(proposed: Sequence[Proposed]) -> list[Proposed]:
    """Each proposal once, where it came first."""
    seen: set[str] = set()
    kept = []
    for part in proposed:
        new = [place for place, proposal in enumerate(part.proposals) if proposal.text not in seen]
        seen |= {proposal.text for proposal in part.proposals}
        if new:
            kept.append(
                Proposed(tuple(part.proposals[place] for place in new), part.states, part.chosen[new])
            )
    return kept


def _pick(ranked: list[Ranked], seed: int) -> list[Ranked]:
    """Seed 0 says the best. Any other draws among those that are nearly as good, always the same for the same seed."""
    near = [item for item in ranked[:8] if item.adjusted > ranked[0].adjusted - 0.5]
    if not seed or len(near) < 2:
        return ranked
    chosen = near[int(np.random.default_rng(seed).integers(len(near)))]
    return [chosen, *(item for item in ranked if item is not chosen)]


def _checked(message: str) -> str:
    if not isinstance(message, str) or not message.strip():
        raise AllearsError("there is nothing to answer: the message is empty")
    if len(message) > LONGEST_MESSAGE:
        raise AllearsError(
            f"the message has {len(message):,} characters; up to {LONGEST_MESSAGE:,} are read, so send it in parts"
        )
    return message.strip()
