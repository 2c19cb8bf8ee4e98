"""One turn, from the door to the answer. This is the only place that knows the order.

message -> encode -> read -> screen -> remember -> write, or choose -> review -> reply + why

The encoder runs over two texts, the conversation and the last message; screening, reading, remembering and ranking
share them. Nothing is remembered, proposed or generated before the screen has let a message pass, and one that cannot
be encoded or read is screened all the same.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from allears.conversation import Context, Conversation, PersonaSentence
from allears.listener import direct
from allears.listener.choosing import OWN, another, rank, reviewed
from allears.listener.contract import (
    NO_WISH,
    PersonaUse,
    Proposal,
    Ranked,
    Reply,
    ShownChange,
    Why,
    Wish,
)
from allears.listener.finding import Finder
from allears.listener.matching import Matched, matched_words
from allears.listener.opening import open_parts
from allears.listener.senses import Senses, mood
from allears.listener.turn_state import (
    CONTEXT_TURNS,
    TurnState,
    checked_message,
    checked_wish,
    clock,
    last_message,
)
from allears.listener.voices import CHOSEN, DEFAULT, Voice
from allears.listener.writing import DraftRequest, Scorer, Writer, known_before
from allears.personas.contract import PersonaExtractor, SharesEncoder
from allears.personas.memory import merge
from allears.personas.provenance import Extraction, extract_each
from allears.progress import Watch, unwatched
from allears.runtime.nearest import Floats
from allears.runtime.onnx_encoder import EncodedText
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.selector import Query
from allears.safety.replies import ELSEWHERE, checked_country, countries
from allears.safety.screen import CrisisScreen

SHOWN = 10  # candidates in `why`
KEPT_EMOTIONS = 8  # of a mood, from one turn to the next
_WORDS = re.compile(r"\S+\s*")


class Listener:
    """Answers with care, and can say why. It keeps nothing: all state is in the conversation."""

    takes_strategy = takes_persona = True  # what a `Wish` and `personas["supporter"]` may ask of it

    def __init__(
        self,
        selector: OnnxSelector,
        senses: Senses,
        finder: Finder,
        *,
        screen: CrisisScreen,
        extractor: PersonaExtractor,
        country: str | None = None,
        voice: Voice = Voice(CHOSEN),  # noqa: B008 - frozen
        scorer: Scorer | None = None,
    ):
        self.selector, self.senses, self.finder = selector, senses, finder
        self.writer = Writer(voice, scorer)
        self.screen, self.extractor = screen, extractor
        self.country = checked_country(country)

    @property
    def takes_alpha(self) -> bool:
        """Whether somebody who writes for it has PAL's alpha."""
        return self.writer.takes_alpha

    @property
    def voice(self) -> str:
        """The name of who writes; "chosen" where nobody does."""
        return self.writer.voice.name

    def with_voice(self, voice: Voice) -> Listener:
        """The same listener with another voice; everything else is shared."""
        other = copy.copy(self)
        other.writer = Writer(voice, self.writer.scorer)
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
        drafts: int | None = None,
    ) -> Listener:
        """Open a bundle and a voice.

        Args:
            pools: Files or folders of your own replies on cards (`cards`), to be chosen from where nobody writes.
            shipped: Whether the replies that ship are there, too.
            cache: Where the cards' index is kept; it is built the first time, in half a minute.
            persona: What a person says of themselves and lasts is noted in their own words ("said") or in those of the
                bundle's extractor ("written").
            voice: Who writes the replies, by name (`voices.open_voice`).
            drafts: How many drafts the voice may write for a turn.
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
            drafts=drafts,
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
        """The reply piece by piece, then the whole `Reply`.

        A voice that writes one draft is heard sentence by sentence, each reviewed before it is shown; any other reply
        is shown once it was chosen, and so is one that ends with the crisis screen's question.
        """
        (turn,) = self._begin([message], [conversation], [seed], [wish])
        if turn.reply is None and self.writer.streams and not turn.question:
            with clock([turn], "write"):
                speech = self.writer.speak(self._request(turn))
                yield from speech
            if speech.text:
                said = Proposal(speech.text, self.voice, speech.strategy)
                self._decide(turn, [Ranked(said, 1.0, 1.0)], ())
                yield turn.finished()
                return
        if turn.reply is None and self.writer.voice.writes:
            with clock([turn], "write"):
                self._write(turn)
        self._choose([turn] if turn.reply is None else [])
        reply = turn.finished()
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
        turns = self._begin(messages, conversations, seeds, wishes)
        open_turns = [turn for turn in turns if turn.reply is None]
        if self.writer.voice.writes and open_turns:
            with clock(open_turns, "write"):
                for turn in open_turns:
                    self._write(turn)
        self._choose([turn for turn in open_turns if turn.reply is None])
        return [turn.finished() for turn in turns]

    def _begin(
        self,
        messages: Sequence[str],
        conversations: Sequence[Conversation | None],
        seeds: Sequence[int],
        wishes: Sequence[Wish],
    ) -> list[TurnState]:
        """Everything before a reply is written or chosen; who is in danger has their answer already."""
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
                self._answer_directly(turn)
        open_turns = [turn for turn in turns if turn.reply is None]
        if open_turns:
            if unread is not None:
                raise unread
            with clock(open_turns, "remember"):
                direct.recall(open_turns, self._vectors, say=not self.writer.voice.writes)
            open_turns = [turn for turn in open_turns if turn.reply is None]
        if open_turns:
            with clock(open_turns, "remember"):
                self._remember(open_turns, [turn.texts[1] for turn in open_turns])
            with clock(open_turns, "encode"):  # the personas, now that they are known
                self._encode(open_turns)
            with clock(open_turns, "read"):
                self._understand(open_turns)
        return turns

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

    def _answer_directly(self, turn: TurnState) -> None:
        country = self._country(turn.conversation)
        direct.screen(turn, self.screen, country, self._vectors)
        if turn.reply is None:
            direct.answer_request(turn)
        if turn.reply is None:
            direct.answer_in_their_language(turn, country)

    def _vectors(self, texts: Sequence[str]) -> Floats:
        """What the bundle's encoder makes of texts, for how near they are in meaning."""
        return self.selector.encode_responses(texts).vectors

    def _country(self, conversation: Conversation) -> str | None:
        """Where the person said they are, if help lines are listed for it."""
        said = conversation.labels.get("country")
        return said if said in countries() or said == ELSEWHERE else self.country

    def _understand(self, turns: Sequence[TurnState]) -> None:
        """What was read, together with what is known of the conversation."""
        for turn in turns:
            turn.emotions = mood(turn.sensed.emotions, turn.conversation.labels.get("mood", {}), turn.message)
            turn.labels = {**turn.labels, "mood": dict(turn.emotions[:KEPT_EMOTIONS])}
            turn.strategies = turn.sensed.strategies

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

    def _request(self, turn: TurnState) -> DraftRequest:
        return DraftRequest(
            turn.turns,
            known_before(turn.persona, turn.turns, turn.recalled),
            turn.listener,
            tuple(name for name, _ in turn.strategies),
            turn.wish,
            turn.seed,
        )

    def _write(self, turn: TurnState) -> None:
        """Let the voice write; where it wrote nothing that can be said, a reply is chosen."""
        turn.drafts = self.writer.write(self._request(turn))
        if turn.drafts.ranked:
            self._decide(turn, turn.drafts.ranked, ())

    def _choose(self, turns: Sequence[TurnState]) -> None:
        """The reply that fits best among those on cards."""
        for turn in turns:
            with clock([turn], "find"):
                turn.proposed = self.finder.find(turn.texts, turn.encoded, turn.wish.strategy)
            with clock([turn], "rank"):
                ranked = rank(turn.proposed, turn.encoded, self.selector, turn.turns)
            with clock([turn], "review"):
                self._decide(turn, *reviewed(another(ranked, turn.seed)))

    def _decide(self, turn: TurnState, ranked: Sequence[Ranked], refused: Sequence[str]) -> None:
        """Say the first of `ranked`, and why."""
        said = ranked[0].proposal
        turn.reply, turn.said = said.text, said.strategy
        turn.why = Why(
            "reply",
            turn.screening,
            tuple((name, round(chance, 4)) for name, chance in turn.emotions),
            turn.said,
            turn.strategies,
            self._attention(turn, said, 0),
            turn.learned,
            turn.changes,
            tuple(ranked[:SHOWN]),
            (*turn.drafts.refused, *refused),
            turn.seed,
            voice=self.voice,
            trouble=turn.drafts.trouble,
            wished=turn.wish.strategy,
            listener_persona=self._attention(turn, said, OWN),
        )

    def _attention(self, turn: TurnState, said: Proposal, row: int) -> tuple[PersonaUse, ...]:
        """How much of the reply's attention (CoBERT's Y2X) fell on each persona sentence of a query."""
        known = turn.queries[row].persona if row < len(turn.queries) else ()
        if not known:
            return ()
        source = next((each for each in turn.proposed if said in each.proposals), None)
        if source is None:  # it was written for this turn
            states, candidate = self.selector.encode_responses([said.text]), 0
        else:
            states, candidate = source.states, int(source.chosen[source.proposals.index(said)])
        shares = self.selector.persona_attention(turn.encoded.row(row), states.of(candidate))
        sources = {sentence.text: sentence.source for sentence in turn.persona.sentences} if row == 0 else {}
        uses = (
            PersonaUse(text, float(share), sources.get(text, ""))
            for text, share in zip(known, shares, strict=True)
        )
        return tuple(sorted(uses, key=lambda use: -use.weight))
