"""One turn, from the door to the answer. This is the only place that knows the order.

message -> encode -> read -> screen -> remember -> propose -> rank -> review -> reply + why

The encoder runs over two texts, the conversation and the last message; screening, reading, remembering and ranking
share them. Nothing is remembered, proposed or generated before the screen has let a message pass, and one that cannot
be encoded or read is screened all the same.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from allears.conversation import Context, Conversation, Persona, PersonaSentence
from allears.listener import requests
from allears.listener.choosing import in_order, reviewed, without_doubles
from allears.listener.contract import (
    NO_WISH,
    PersonaUse,
    Proposal,
    Proposer,
    Reply,
    Request,
    ShownChange,
    Why,
    Wish,
)
from allears.listener.making import MakingProposer
from allears.listener.matching import Matched, matched_words
from allears.listener.opening import open_parts
from allears.listener.ranking import Moment, Weights, highest_score, rank
from allears.listener.senses import Senses, mood
from allears.listener.speaking import Speaker
from allears.listener.stages import stage, strategies
from allears.listener.turn_state import (
    CONTEXT_TURNS,
    TurnState,
    checked_message,
    checked_wish,
    clock,
    last_message,
)
from allears.listener.voices import DEFAULT, RETRIEVAL, Voice
from allears.personas.contract import PersonaExtractor, SharesEncoder
from allears.personas.memory import merge
from allears.personas.provenance import Extraction, extract_each
from allears.progress import Watch, unwatched
from allears.runtime.onnx_encoder import EncodedText
from allears.runtime.onnx_selector import OnnxSelector, StateComparison
from allears.runtime.selector import Query
from allears.safety.dangers import SafetyState
from allears.safety.replies import ELSEWHERE, countries, fixed_reply
from allears.safety.screen import CrisisScreen

SHOWN = 10  # candidates in `why`
KEPT_EMOTIONS = 8  # of a mood, from one turn to the next
OWN = 2  # among a turn's queries: the last message, with the persona that the listener itself speaks with
_WORDS = re.compile(r"\S+\s*")


class Listener:
    """Answers with care, and can say why. It keeps nothing: all state is in the conversation."""

    takes_strategy = takes_persona = True  # what a `Wish` and `personas["supporter"]` may ask of it

    def __init__(
        self,
        selector: OnnxSelector,
        senses: Senses,
        proposers: Sequence[Proposer],
        *,
        screen: CrisisScreen,
        extractor: PersonaExtractor,
        making: MakingProposer | None = None,
        country: str | None = None,
        weights: Weights = Weights(),  # noqa: B008 - frozen
        voice: Voice = Voice(RETRIEVAL),  # noqa: B008 - frozen
    ):
        self.selector, self.senses, self.proposers = selector, senses, tuple(proposers)
        self.speaker = Speaker(voice, selector)
        self.screen, self.extractor, self.country, self.weights = screen, extractor, country, weights
        self.making = making

    @property
    def takes_alpha(self) -> bool:
        """Whether somebody who writes for it has PAL's alpha."""
        return self.speaker.takes_alpha

    @property
    def voice(self) -> str:
        """The name of who writes beside the pool; "retrieval" where nobody does."""
        return self.speaker.voice.name

    def with_voice(self, voice: Voice) -> Listener:
        """The same listener with another voice; everything else is shared."""
        other = copy.copy(self)
        other.speaker = Speaker(voice, self.selector)
        return other

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
        voice: str = DEFAULT,
    ) -> Listener:
        """Open a bundle, with the shipped pool and your own `pools` beside it (or, with `shipped=False`, alone).

        `voice` writes replies of its own beside them: the bundle's, if it has one; or another (`voices.py`).

        The pool's index is built the first time (half a minute) and kept in the cache folder. What a person says of
        themselves and lasts is noted in their own words; with `persona="written"`, in those of the bundle's extractor.
        """
        parts = open_parts(
            bundle,
            pools,
            shipped=shipped,
            threads=threads,
            cache=cache,
            persona=persona,
            watch=watch,
            voice=voice,
        )
        return cls(**parts, country=country)

    def respond(
        self,
        message: Context,
        conversation: Conversation | None = None,
        *,
        seed: int = 0,
        wish: Wish = NO_WISH,
    ) -> Reply:
        """The reply to a message, with its reasons and the conversation to go on with.

        Args:
            message: What the person says now; or a whole conversation that ends with it, as `Turn`s, texts or
                OpenAI-style messages.
            conversation: What was said before: `reply.conversation` of the last reply.
            seed: 0 says the best reply; others vary, each in its own way.
            wish: A strategy, or how far to lean on the persona.
        """
        text, before = last_message(message, conversation)
        return self.respond_many([text], [before], seeds=[seed], wishes=[wish])[0]

    async def arespond(
        self, message: str, conversation: Conversation | None = None, *, seed: int = 0, wish: Wish = NO_WISH
    ) -> Reply:
        import asyncio

        return await asyncio.to_thread(self.respond, message, conversation, seed=seed, wish=wish)

    def stream(
        self, message: str, conversation: Conversation | None = None, *, seed: int = 0, wish: Wish = NO_WISH
    ) -> Iterator[str | Reply]:
        """The reply word by word, then the whole `Reply`. It is reviewed as a whole before its first word is shown."""
        reply = self.respond(message, conversation, seed=seed, wish=wish)
        yield from _WORDS.findall(reply.text)
        yield reply

    def respond_many(
        self,
        messages: Sequence[str],
        conversations: Sequence[Conversation | None],
        *,
        seeds: Sequence[int],
        wishes: Sequence[Wish] | None = None,
    ) -> list[Reply]:
        """Several people at once; what can be encoded together is. The replies are those of one by one."""
        wishes = [NO_WISH] * len(messages) if wishes is None else wishes
        turns = [
            TurnState(
                checked_message(message),
                conversation or Conversation(id="", turns=()),
                seed,
                checked_wish(wish),
            )
            for message, conversation, seed, wish in zip(messages, conversations, seeds, wishes, strict=True)
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
            with clock(open_turns, "remember"):
                self._remember(open_turns, [turn.texts[1] for turn in open_turns])
            with clock(open_turns, "encode"):  # the personas, now that they are known
                self._encode(open_turns)
            with clock(open_turns, "read"):
                self._understand(open_turns)
            with clock(open_turns, "propose"):
                for turn in open_turns:
                    self._propose(turn)
            if self.voice != RETRIEVAL:
                with clock(open_turns, "write"):
                    self._write(open_turns)
            with clock(open_turns, "rank"):
                self._rank(open_turns)
            with clock(open_turns, "review"):
                for turn in open_turns:
                    self._decide(turn)
        return [turn.finished() for turn in turns]

    def matched_words(
        self,
        message: str,
        reply: str,
        persona: Sequence[PersonaSentence] = (),
        listener: Sequence[str] = (),
    ) -> Matched:
        """Which words of a reply go with which of the message, of what is known, and of the listener's own persona."""
        return matched_words(self.selector, message, reply, persona, listener)

    # --- the steps

    def _sense(self, turns: Sequence[TurnState]) -> None:
        """Encodes the conversation and the last message of each turn, and reads them."""
        with clock(turns, "encode"):
            asked = [query for turn in turns for query in turn.queries]
            contexts = self.selector.encode_contexts(asked)
        with clock(turns, "read"):
            sensed = self.senses.read(contexts[::2], contexts[1::2], [turn.turns for turn in turns])
            for row, turn in enumerate(turns):
                turn.texts, turn.sensed = contexts[2 * row : 2 * row + 2], sensed[row]

    def _screen(self, turn: TurnState) -> None:
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
            text = fixed_reply(found, country=self._country(turn.conversation))
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
                changes=tuple(ShownChange(sentence.text, "", "forgotten") for sentence in gone),
                seed=turn.seed,
            )

    def _country(self, conversation: Conversation) -> str | None:
        """Where the person said they are, if help lines are listed for it."""
        said = conversation.labels.get("country")
        return said if said in countries() or said == ELSEWHERE else self.country

    def _understand(self, turns: Sequence[TurnState]) -> None:
        """What was read, together with what is known of the conversation."""
        for turn in turns:
            turn.emotions = mood(turn.sensed.emotions, turn.conversation.labels.get("mood", {}), turn.message)
            turn.labels = {**turn.labels, "mood": dict(turn.emotions[:KEPT_EMOTIONS])}
            turn.stage = stage(turn.turns, turn.emotions)
            turn.strategies = strategies(turn.sensed.strategies, turn.stage, turn.turns)

    def _remember(self, turns: Sequence[TurnState], messages: Sequence[EncodedText]) -> None:
        """`messages`: the last message of each, as the encoder read it."""
        extractor = self.extractor
        if isinstance(extractor, SharesEncoder):
            extractor = extractor.knowing(messages)
        said = [(len(turn.conversation.turns) + 1, turn.message) for turn in turns]
        for turn, told in zip(turns, extract_each(extractor, said), strict=True):
            self._learn(turn, told)

    def _learn(self, turn: TurnState, told: Extraction) -> None:
        merged = merge(turn.persona, told.kept)
        turn.learned = tuple(
            sentence for sentence in merged.persona.sentences if sentence not in turn.persona.sentences
        )
        turn.changes = tuple(
            ShownChange(each.old.text, each.new.text, each.reason) for each in merged.changes
        )
        turn.persona = merged.persona
        limit = self.selector.card.limits.persona_sentences
        # what was just said is in the context already; the persona is what is known from before
        before = [sentence.text for sentence in merged.persona.sentences if sentence not in turn.learned]
        whole = Query(turn.turns[-CONTEXT_TURNS:], tuple(before[-limit:] if limit else ()))
        turn.queries = (whole, Query(turn.turns[-1:]))
        if turn.listener and limit:  # PEC's setting: the one who answers has a persona
            turn.queries = (*turn.queries, Query(turn.turns[-1:], turn.listener[:limit]))

    def _encode(self, turns: Sequence[TurnState]) -> None:
        """The queries of each turn: the conversation, the last message, and that with the listener's own persona."""
        contexts = [turn.texts[min(row, 1)] for turn in turns for row in range(len(turn.queries))]
        queries = [query for turn in turns for query in turn.queries]
        encoded, start = self.selector.encode_queries(queries, contexts), 0
        for turn in turns:
            turn.encoded = encoded.rows(start, start + len(turn.queries))
            start += len(turn.queries)

    def _propose(self, turn: TurnState) -> None:
        """For the conversation and for the last message alone. A reply must fit both."""
        told = turn.turns, turn.persona, turn.emotions, turn.strategies, turn.stage, turn.seed
        proposed = [
            proposer.propose(
                Request(*told, turn.encoded.row(row), turn.wish, turn.listener if row == OWN else ())
            )
            for proposer in self.proposers
            for row in range(len(turn.encoded))
        ]
        asked = Request(*told, listener=turn.listener)
        made = self.making.propose(asked, turn.texts, turn.sensed.emotions) if self.making else None
        turn.proposed = without_doubles([*proposed, *([made] if made else [])])

    def _write(self, turns: Sequence[TurnState]) -> None:
        """What the voice would say, beside what was found."""
        asked = []
        for turn in turns:
            # what was just said is in the turns already, as for ranking
            before = [sentence for sentence in turn.persona.sentences if sentence not in turn.learned]
            told = turn.turns, Persona(tuple(before)), turn.emotions, turn.strategies, turn.stage, turn.seed
            asked.append(Request(*told, wish=turn.wish, listener=turn.listener))
        for turn, spoken in zip(turns, self.speaker.speak(asked), strict=True):
            turn.spoken = spoken
            turn.proposed = without_doubles([*turn.proposed, spoken.proposed])

    def _rank(self, turns: Sequence[TurnState]) -> None:
        """CoBERT compares the proposals of all turns in one go; the rest of the ranking is each turn's own."""
        comparisons = [
            StateComparison(turn.encoded, part.states, part.chosen)
            for turn in turns
            for part in turn.proposed
        ]
        scores = iter(self.selector.compare(comparisons))
        for turn in turns:
            proposals = [proposal for part in turn.proposed for proposal in part.proposals]
            found = np.concatenate([next(scores) for _ in turn.proposed], axis=1)
            moment = Moment(turn.turns, turn.emotions, turn.strategies, turn.stage, turn.listener)
            # that query is the one before it with the listener's persona: the persona's part lies between them
            own = found[OWN] - found[OWN - 1] if len(found) > OWN else None
            highest = highest_score(self.selector.card, persona=bool(turn.queries[0].persona))
            near = found[0] / highest if highest else None
            ranked = rank(proposals, found[:2].mean(axis=0), moment, self.weights, own, near)
            turn.ranked = in_order(ranked, turn.wish.strategy, turn.seed)

    def _decide(self, turn: TurnState) -> None:
        kept, refused = reviewed(turn.ranked)
        turn.reply, turn.said = kept[0].proposal.text, kept[0].proposal.strategy
        turn.why = Why(
            "reply",
            turn.screening,
            tuple((name, round(chance, 4)) for name, chance in turn.emotions),
            turn.said,
            turn.strategies,
            turn.stage,
            self._attention(turn, kept[0].proposal, 0),
            turn.learned,
            turn.changes,
            tuple(kept[:SHOWN]),
            (*turn.spoken.refused, *refused),
            turn.seed,
            voice=self.voice,
            trouble=turn.spoken.trouble,
            wished=turn.wish.strategy,
            listener_persona=self._attention(turn, kept[0].proposal, OWN),
        )

    def _attention(self, turn: TurnState, said: Proposal, row: int) -> tuple[PersonaUse, ...]:
        """How much of the reply's attention (CoBERT's Y2X) fell on each persona sentence of a query."""
        known = turn.queries[row].persona if row < len(turn.queries) else ()
        if not known:
            return ()
        source = next(each for each in turn.proposed if said in each.proposals)
        candidate = int(source.chosen[source.proposals.index(said)])
        shares = self.selector.persona_attention(turn.encoded.row(row), source.states.of(candidate))
        sources = {sentence.text: sentence.source for sentence in turn.persona.sentences} if row == 0 else {}
        uses = (
            PersonaUse(text, float(share), sources.get(text, ""))
            for text, share in zip(known, shares, strict=True)
        )
        return tuple(sorted(uses, key=lambda use: -use.weight))
