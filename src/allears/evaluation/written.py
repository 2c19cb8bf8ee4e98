"""A generator's replies to a corpus's contexts, as a corpus: what a smaller generator learns from.

Sequence-level distillation (Kim and Rush 2016): the student learns what the teacher writes, which is more regular than
what people write, and so easier to learn. Every context that somebody answered becomes a conversation of its own, whose
last turn is the teacher's; the strategy, where people chose one, stays theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path

from allears import __version__
from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora import corpus as corpus_named
from allears.corpora.check import Watch, unwatched
from allears.decoding import PAL_SETTINGS, AlphaTable, Settings
from allears.decoding import decoding as decoding_named
from allears.errors import AllearsError
from allears.evaluation.annotation_file import Annotated, annotate_to, check_annotation_path
from allears.evaluation.measured_generation import TABLE, alpha_table
from allears.models.generation.examples import OWN_CORPUS_RULE, conversation_examples, read_examples
from allears.models.generation.loading import load_generator
from allears.runtime.generator import Generator

AT_ONCE = 256  # conversations between two writes to the file
WRITTEN = "written"  # the source of what a generator wrote: no corpus's own rules are for it


def contexts(name: str | Path, split: str, root: Path | str | None = None) -> Iterator[Conversation]:
    """Every example of a split in which somebody is answered, with what could be known of them at that moment."""
    for number, example in enumerate(read_examples(name, split, root)):
        if not example.answers:
            continue
        prompt = example.prompt
        known = Persona(tuple(PersonaSentence(text) for text in prompt.persona))
        yield Conversation(
            id=f"{Path(name).name}-{split}-{number}",
            turns=(*prompt.turns, Turn(Role.SUPPORTER, example.response, strategy=prompt.strategy)),
            personas={Role.SEEKER.value: known} if prompt.persona else {},
            source=WRITTEN,
        )


class WriteResponses:
    """Gives conversations back with their last turn written anew. What is drawn for one depends on its id and the seed
    alone, so that a run which was killed goes on as if nothing had happened."""

    def __init__(
        self,
        generator: Generator,
        by: str,
        *,
        settings: Settings = PAL_SETTINGS,
        alphas: AlphaTable | None = None,
        seed: int = 0,
    ):
        self.generator, self.by = generator, by
        self.settings, self.alphas, self.seed = settings, alphas, seed

    def __call__(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        prompts = [next(conversation_examples(each, OWN_CORPUS_RULE)).prompt for each in conversations]
        seeds = [_seed(self.seed, each.id) for each in conversations]
        found = self.generator.generate(prompts, self.settings, seeds, alphas=self.alphas)
        return [
            _answered(
                conversation, Turn(Role.SUPPORTER, reply.text, strategy=reply.strategy or None), self.by
            )
            for conversation, (reply, *_) in zip(conversations, found, strict=True)
        ]


def _answered(conversation: Conversation, response: Turn, by: str) -> Conversation:
    labels = {**conversation.labels, "annotated_by": {"response": by}}
    return replace(conversation, turns=(*conversation.turns[:-1], response), labels=labels)


def _seed(seed: int, conversation: str) -> int:
    return int.from_bytes(sha256(f"{seed} {conversation}".encode()).digest()[:4], "big")


def write_corpus_replies(
    model: str,
    out: Path,
    *,
    corpus: str,
    split: str = "train",
    root: Path | None = None,
    limit: int | None = None,
    alpha: str = TABLE,
    decoding: str = "sample",
    seed: int = 0,
    device: str = "cpu",
    watch: Watch = unwatched,
) -> Annotated:
    """Let a generator by its name answer every context of a corpus; a run that was killed goes on where it stopped."""
    # Whatever can be wrong is found before the long part begins.
    settings, alphas = decoding_named(decoding), alpha_table(alpha)
    check_annotation_path(out)
    corpus_named(corpus)
    generator = load_generator(model, device)
    stream = contexts(corpus, split, root)
    if limit is not None:
        stream = islice(stream, limit)
    asked = {
        "corpus": corpus, "split": split, "add": "response", "model": model, "alpha": alpha, "decoding": decoding,
        "seed": seed, "limit": limit, "allears": __version__,
    }  # fmt: skip
    write = WriteResponses(generator, model, settings=settings, alphas=alphas, seed=seed)
    done = annotate_to(out, watch(stream, "writing replies", limit), write, asked, at_once=AT_ONCE)
    if not done.conversations:
        raise AllearsError(f"in the {split} split of {corpus} nobody answers another person")
    return done
