"""A generator by its name, measured on a corpus by its name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allears.corpora.heads import head
from allears.decoding import PAL_ALPHAS, AlphaTable
from allears.decoding import decoding as decoding_named
from allears.errors import AllearsError
from allears.evaluation.annotate import mechanism_head
from allears.evaluation.generation import GenerationReport, evaluate_generation, reply_spread
from allears.evaluation.sampling import plain_sample
from allears.evaluation.setting import EvaluationSetting
from allears.labels import MECHANISMS
from allears.metrics.bleu import sacrebleu_metrics
from allears.models.generation.examples import GenerationExample, read_examples
from allears.models.generation.loading import load_generator
from allears.models.reader.loading import load_reading_model
from allears.progress import Watch
from allears.runtime.bundle import DEFAULT, default_bundle
from allears.runtime.generator import Generator, settings_of

TABLE, NOTHING, LISTENER, OWN = "table", "none", "listener", "own"


@dataclass(frozen=True, slots=True)
class MeasuredGenerator:
    """A generator's report, and the examples that it answered."""

    report: GenerationReport
    examples: list[GenerationExample]

    def write_replies(self, path: Path) -> None:
        """Every reply beside its prompt, a line of JSON each."""
        lines = [
            json.dumps(
                {
                    "turns": [
                        {"speaker": turn.speaker.value, "text": turn.text} for turn in example.prompt.turns
                    ],
                    "persona": list(example.prompt.persona),
                    "own_persona": list(example.prompt.own_persona),
                    "emotion": example.labels.emotion,
                    "strategy": reply.strategy,
                    "reply": reply.text,
                    "gold_strategy": example.prompt.strategy,
                    "gold": example.response,
                },
                ensure_ascii=False,
            )
            for example, reply in zip(self.examples, self.report.replies, strict=True)
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def measure_generator(
    model: str,
    corpus: str,
    setting: EvaluationSetting,
    *,
    alpha: str = TABLE,
    decoding: str = OWN,
    encoder: str = DEFAULT,
    reader: str = NOTHING,
    seeds: int = 1,
) -> MeasuredGenerator:
    """What a generator would have said; `encoder` and `reader` may be `none`, and more `seeds` add the spread."""
    # Whatever can be wrong is found before the long part begins.
    settings, alphas = None if decoding == OWN else decoding_named(decoding), alpha_table(alpha)
    sacrebleu_metrics()
    split, seed, device, watch = setting.split, setting.seed, setting.device, setting.watch
    generator = _generator(model, device, watch)
    settings = settings or settings_of(generator)
    examples = [example for example in read_examples(corpus, split, setting.root) if example.answers]
    if not examples:
        raise AllearsError(f"in the {split} split of {corpus} nobody answers another person")
    examples = plain_sample(examples, setting.limit, seed)
    from allears.models.reader.sentiment import VaderSentiment

    report = evaluate_generation(
        generator,
        examples,
        settings=settings,
        alphas=alphas,
        seed=seed,
        embed=_embed(encoder, device),
        sentiment=VaderSentiment().compound,
        reader=None
        if reader == NOTHING
        else load_reading_model(reader, head(mechanism_head(MECHANISMS[0])), device=device),
        watch=watch,
    )
    if seeds > 1:
        chosen = range(seed, seed + seeds)
        report.measures.update(
            reply_spread(generator, examples, settings=settings, seeds=chosen, watch=watch)
        )
    return MeasuredGenerator(report, examples)


def check_replies_path(path: Path) -> None:
    """Refuse early what could not be written later."""
    if path.suffix != ".jsonl" or not path.absolute().parent.is_dir():
        raise AllearsError(f"{path}: replies are written as .jsonl, into a folder that is there")


def alpha_table(text: str) -> AlphaTable | None:
    """None stands for the generator's own table."""
    if text == TABLE:
        return None
    try:
        value = float(text)
    except ValueError:
        raise AllearsError(f"--alpha takes `table` or a number such as 0 or 0.75; got {text!r}") from None
    return PAL_ALPHAS.all(value)


def _generator(name: str, device: str, watch: Watch) -> Generator:
    """`listener` and `listener:VOICE` are the default bundle's listener; everything else is a generator's name."""
    who, _, voice = name.partition(":")
    if who != LISTENER or Path(name).exists():
        return load_generator(name, device)
    from allears.listener.as_generator import ListenerGenerator
    from allears.listener.listener import Listener

    return ListenerGenerator(Listener.from_bundle(voice=voice or DEFAULT, watch=watch))


def _embed(name: str, device: str) -> Any:
    if name == NOTHING:
        return None
    from allears.models.reader.sentence_loading import load_sentence_encoder

    return load_sentence_encoder(default_bundle() if name == DEFAULT else name, device).vectors
