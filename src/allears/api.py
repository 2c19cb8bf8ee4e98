"""What most people need, in one line each: `allears.emotions("I lost my keys again")`.

A conversation may be given as a text (one message), as `Turn`s, as a list of texts (seeker and supporter in turn, the
seeker's last), or as OpenAI-style messages. Models are opened at the first call and kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from allears.conversation import Context, Role, as_turns
from allears.corpora import read
from allears.errors import AllearsError

__all__ = ["RankedReply", "emotions", "evaluate", "generate", "persona", "rank", "read", "train"]

DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class RankedReply:
    """A reply, its score under the ranker, and where it stood among the given ones."""

    text: str
    score: float
    index: int


def emotions(text: Context, *, top: int = 5, model: str = DEFAULT) -> dict[str, float]:
    """How a person feels: the likeliest of EmpatheticDialogues' 32 emotions with their probabilities, likeliest first.

    Args:
        text: A message, or a whole conversation of which the seeker's turns are read.
        model: A bundle or a run folder with a reader.
    """
    from allears.corpora.heads import head
    from allears.text.reading import Reading

    seeker = tuple(turn for turn in as_turns(text) if turn.speaker is Role.SEEKER)
    if not seeker:
        raise AllearsError("there is nothing to read: no turn is the seeker's")
    asked = head("ed-emotion-turns")
    (found,) = _reader(model, asked.name).probabilities(asked, [Reading(seeker)])
    best = sorted(zip(asked.labels, map(float, found), strict=True), key=lambda pair: -pair[1])
    return dict(best[:top])


def persona(text: Context, *, model: str = DEFAULT) -> list[str]:
    """What a person tells about themselves, as short sentences; only what was really said.

    Args:
        text: A message, or a whole conversation of which the seeker's turns are read.
        model: A bundle or a run folder with a persona extractor.
    """
    from allears.personas.provenance import extract_persona

    told = [
        (number, turn.text) for number, turn in enumerate(as_turns(text), 1) if turn.speaker is Role.SEEKER
    ]
    return [sentence.text for sentence in extract_persona(_extractor(model), told).kept]


def rank(
    context: Context, replies: Sequence[str], *, persona: Sequence[str] = (), model: str = DEFAULT
) -> list[RankedReply]:
    """Replies in the order in which they fit a conversation, best first (CoBERT).

    Args:
        context: What was said so far.
        replies: The candidates.
        persona: Sentences about the one who answers (PEC's setting).
        model: A bundle, or the run folder of any selection model.
    """
    import numpy as np

    from allears.runtime.selector import Query

    if not replies:
        return []
    selector = _selector(model)
    query = Query(as_turns(context), tuple(persona))
    chosen = np.arange(len(replies))[None, :]
    scores = selector.score([query], selector.encode_responses(list(replies)), chosen)[0]
    order = sorted(range(len(replies)), key=lambda place: -float(scores[place]))
    return [RankedReply(replies[place], float(scores[place]), place) for place in order]


def generate(
    context: Context,
    *,
    strategy: str | None = None,
    persona: Sequence[str] = (),
    alpha: float | None = None,
    model: str = DEFAULT,
    seed: int = 0,
) -> str:
    """One reply by a generator alone: no screen, no memory, no choice among several. `Listener` has those.

    Args:
        context: What was said so far.
        strategy: One of ESConv's eight support strategies; by default the generator chooses.
        persona: Sentences about the person who is answered, in the first person.
        alpha: How far to lean on the persona (PAL's equation 6); by default the strategy's own.
        model: A bundle or the run folder of a generator.
    """
    from allears.decoding import AlphaTable
    from allears.runtime.generator import STRATEGIES, Prompt, settings_of

    generator = _generator(model)
    prompt = Prompt(as_turns(context), tuple(persona), strategy)
    alphas = None if alpha is None else AlphaTable(dict.fromkeys(STRATEGIES, alpha), "given")
    ((reply,),) = generator.generate([prompt], settings_of(generator), seed, alphas=alphas)
    return str(reply.text)


def evaluate(predictions: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """The papers' measures of written replies against what people said: BLEU, ROUGE-L, METEOR, distinct, EAD.

    Args:
        predictions: One reply of a system for each reference.
        references: What was really said.
    """
    from allears.metrics.generation import generation_measures

    if len(predictions) != len(references) or not predictions:
        raise AllearsError(
            f"evaluate needs one prediction for each reference, got {len(predictions)} and {len(references)}"
        )
    return generation_measures(predictions, references)


def train(
    recipe: str | Path,
    *,
    changes: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    resume: bool = False,
) -> dict[str, float]:
    """Train what a recipe asks for; its measures on the valid split. The run folder is `out`, or `runs/RECIPE`.

    Args:
        changes: Keys of the recipe to set differently: `{"training.epochs": 1}`.
        resume: Go on with a run that was killed.
    """
    from allears.training.run import run_recipe

    wanted = [f"{key}={value}" for key, value in (changes or {}).items()]
    return run_recipe(Path(recipe), wanted, None if out is None else Path(out), resume=resume)


# --- each model is opened once


@cache
def _selector(model: str) -> Any:
    from allears.models.selection.loading import load_selector

    return load_selector(model)


@cache
def _reader(model: str, name: str) -> Any:
    from allears.corpora.heads import head
    from allears.models.reader.loading import load_reading_model

    return load_reading_model(model, head(name))


@cache
def _extractor(model: str) -> Any:
    from allears.models.extractor.loading import load_extractor

    return load_extractor(model)


@cache
def _generator(model: str) -> Any:
    from allears.models.generation.loading import load_generator

    return load_generator(model)
