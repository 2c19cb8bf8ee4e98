"""How good a persona extractor is: does it know when something is told, does it say it right, does it invent?

Gold is a turn's own persona sentences (`labels["persona_by_turn"]`, one list per turn, as in Multi-Session Chat).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from allears.conversation import Conversation, Role
from allears.errors import AllearsError
from allears.evaluation.sampling import sample_positions
from allears.metrics.token_match import token_match
from allears.models.reader.sentence_encoder import TokenEncoder
from allears.personas.contract import PersonaExtractor
from allears.personas.contradiction import contradiction
from allears.personas.examples import part_of
from allears.personas.provenance import sift
from allears.personas.support import unsupported_share
from allears.personas.wording import sentences
from allears.progress import Watch, unwatched


@dataclass(frozen=True, slots=True)
class GoldTurn:
    """A turn, and what people wrote down about the one who said it; nothing where it tells nothing."""

    conversation: str
    number: int  # in the conversation, from 1
    text: str
    gold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PersonaResult:
    """What an extractor made of a turn."""

    turn: GoldTurn
    sentences: tuple[str, ...]  # that passed the check of their source, ...
    dropped: int = 0  # ... and how many did not

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


@dataclass(frozen=True, slots=True)
class PersonaReport:
    """Percentages. `rouge_l` counts a turn that tells something and was passed over as 0; `rouge_l_found` and
    `similarity` look only at those where gold and extractor both say something."""

    precision: float
    recall: float
    f1: float
    rouge_l: float
    rouge_l_found: float
    unsupported: float  # of the kept sentences' content words, those that their turn never said
    gold_unsupported: float  # the same of gold: what no extractor that keeps to a turn's words could write
    contradictions: float  # of the kept sentences, those that contradict their turn or its gold by rule
    dropped: float  # of the produced sentences, those that failed the check
    similarity: float | None
    told: tuple[PersonaResult, ...] = field(repr=False)

    def flat(self) -> dict[str, float | int]:
        """Names and numbers as `--json` prints them."""
        found: dict[str, float | int] = {
            "f1": self.f1,
            "precision": self.precision,
            "recall": self.recall,
            "rouge_l": self.rouge_l,
            "rouge_l_found": self.rouge_l_found,
            "unsupported": self.unsupported,
            "gold_unsupported": self.gold_unsupported,
            "contradictions": self.contradictions,
            "dropped": self.dropped,
            "examples": len(self.told),
            "positives": sum(bool(each.turn.gold) for each in self.told),
            "sentences": sum(len(each.sentences) for each in self.told),
        }
        return found if self.similarity is None else found | {"similarity": self.similarity}


def gold_turns(conversations: Iterable[Conversation], *, all_turns: bool = False) -> list[GoldTurn]:
    """The seeker's turns with their gold. Of MSC's valid file, most of which extractors are trained on, only the
    held-out dialogues, unless `all_turns`."""
    found = []
    for conversation in conversations:
        by_turn = conversation.labels.get("persona_by_turn")
        if not isinstance(by_turn, list) or len(by_turn) != len(conversation.turns):
            raise AllearsError(
                f"{conversation.source or 'the conversation'} {conversation.id!r} has no gold persona for each "
                "turn: labels['persona_by_turn'] must have one list of sentences per turn, as in msc"
            )
        published = conversation.source == "msc" and conversation.split == "valid"
        if published and not all_turns and part_of(conversation.id) != "held-out":
            continue
        found += [
            GoldTurn(conversation.id, number, turn.text, tuple(text for text in gold if text.strip()))
            for number, (turn, gold) in enumerate(zip(conversation.turns, by_turn, strict=True), 1)
            if turn.speaker is Role.SEEKER
        ]
    return found


def evaluate_persona(
    extractor: PersonaExtractor,
    turns: Sequence[GoldTurn],
    *,
    encoder: TokenEncoder | None = None,
    check: bool = True,
    limit: int | None = None,
    seed: int = 0,
    watch: Watch = unwatched,
) -> PersonaReport:
    """The report on gold turns, or on a seeded sample of `limit` of them.

    With `check`, a sentence that its turn does not bear out is dropped first, as everywhere in allears; without it
    the extractor is measured as it is. `encoder` is for `similarity`, which is left out without one.
    """
    if not turns:
        raise AllearsError("there are no turns to measure the extractor on")
    chosen = [turns[row] for row in sample_positions(len(turns), limit, seed)]
    told = _tell(extractor, chosen, check, watch)
    if not any(each.turn.gold for each in told):
        raise AllearsError("none of these turns tells anything by gold, so there is nothing to compare with")
    precision, recall, f1 = _persona_or_not(told)
    found = [each for each in told if each.turn.gold and each.sentences]
    rouge = _rouge_l([(each.text, " ".join(each.turn.gold)) for each in found])
    kept = [(text, each.turn) for each in told for text in each.sentences]
    dropped = sum(each.dropped for each in told)
    return PersonaReport(
        precision=precision,
        recall=recall,
        f1=f1,
        rouge_l=sum(rouge) / sum(bool(each.turn.gold) for each in told),
        rouge_l_found=_mean(rouge),
        unsupported=unsupported_share((text, turn.text) for text, turn in kept),
        gold_unsupported=unsupported_share(
            (text, each.turn.text) for each in told for text in each.turn.gold
        ),
        contradictions=_mean([100.0 * _is_opposed(text, turn) for text, turn in kept]),
        dropped=100.0 * dropped / max(1, dropped + len(kept)),
        similarity=None if encoder is None else _similarity(encoder, found, watch),
        told=tuple(told),
    )


def _tell(
    extractor: PersonaExtractor, turns: Sequence[GoldTurn], check: bool, watch: Watch
) -> list[PersonaResult]:
    by_conversation: dict[str, list[GoldTurn]] = {}
    for turn in turns:
        by_conversation.setdefault(turn.conversation, []).append(turn)
    return [
        _told(turn, texts, check)
        for own in watch(list(by_conversation.values()), "extracting personas")  # one person at a time
        for turn, texts in zip(own, extractor.extract([turn.text for turn in own]), strict=True)
    ]


def _told(turn: GoldTurn, texts: Sequence[str], check: bool) -> PersonaResult:
    if not check:
        return PersonaResult(turn, tuple(texts))
    found = sift(texts, turn.number, turn.text)
    return PersonaResult(turn, tuple(sentence.text for sentence in found.kept), len(found.dropped))


def _persona_or_not(told: Sequence[PersonaResult]) -> tuple[float, float, float]:
    both = sum(bool(each.sentences and each.turn.gold) for each in told)
    said = sum(bool(each.sentences) for each in told)
    gold = sum(bool(each.turn.gold) for each in told)
    return 100.0 * both / max(1, said), 100.0 * both / max(1, gold), 200.0 * both / max(1, said + gold)


def _rouge_l(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """F-measures on the longest common subsequence, without stemming, by the package that papers use."""
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ModuleNotFoundError as error:
        raise AllearsError('ROUGE-L needs rouge-score; run pip install "allears[train]"') from error
    scorer = RougeScorer(["rougeL"])
    return [100.0 * scorer.score(gold, text)["rougeL"].fmeasure for text, gold in pairs]


def _is_opposed(text: str, turn: GoldTurn) -> bool:
    others = [*sentences(turn.text), *(sentence for gold in turn.gold for sentence in sentences(gold))]
    return any(contradiction(other, text) for other in others)


def _similarity(encoder: TokenEncoder, found: Sequence[PersonaResult], watch: Watch) -> float:
    scores = []
    for start in watch(range(0, len(found), 64), "comparing with gold"):
        part = found[start : start + 64]
        mine = encoder.states([each.text for each in part])
        gold = encoder.states([" ".join(each.turn.gold) for each in part])
        scores += [token_match(*pair) for pair in zip(mine, gold, strict=True)]
    return _mean(scores)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
