"""The training task of the empathetic generators: `task = "generation"` with one of their names in [model]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor

from allears.errors import AllearsError
from allears.models.generation.empathetic import NOT_KNOWN, EmpatheticModel, Learning, parameter_count
from allears.models.generation.empathetic_data import EmpatheticDataset, Features
from allears.models.generation.empathetic_generator import EmpatheticGenerator
from allears.models.generation.empathetic_saved import (
    EmpatheticCard,
    build_empathetic,
    empathetic_class,
    save_empathetic,
    saved_tokenizer,
    word_vocabulary,
)
from allears.models.generation.examples import GenerationExample
from allears.models.generation.prepend import Prepend, PrependOptions
from allears.nn.encoder import Encoder, encoder_tokenizer
from allears.nn.pretrained import load_encoder
from allears.nn.weights import load_alike
from allears.runtime.runs import MODEL_FILE, best
from allears.text.layout import Limits
from allears.text.tokenizer import WordVocabulary
from allears.training.generation.base import (
    EVALUATION_BATCH,
    GenerationDataOptions,
    LikelihoodSums,
    ReplyTask,
    check_options,
)
from allears.training.generation.task import run_encoder
from allears.training.loop import Backward
from allears.training.recipe import Recipe
from allears.training.vectors import vectors_file
from allears.training.workers import Workers

PAPER_VOCABULARY = 24_647  # words that MoEL and MIME count; ours are fewer, as we see no test split
WORDS = "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmpatheticDataOptions(GenerationDataOptions):
    persona_dropout: float = 0.0  # share of examples whose persona a step does not show
    hidden: float = 0.0  # share of the context's words that a step does not show, against learning by heart


@dataclass(frozen=True, slots=True, kw_only=True)
class EmpatheticModelOptions:
    """`vocabulary`: "words" (the papers': every word of the train split), or an encoder, by hub name or folder, whose
    word pieces are used. `encoder`: one that reads in place of the model's own, with its word pieces. `start`: another
    run of this kind, whose weights are taken where names and shapes agree."""

    name: str
    vocabulary: str = WORDS
    minimum_count: int = 1
    maximum_size: int = 40_000
    vectors: str = ""  # word vectors in the GloVe layout: a path, or a file in ALLEARS_DATA
    encoder: str = ""
    start: str = ""
    emotions: int = 32  # or 16
    context_turns: int = 8
    options: dict[str, Any] | None = None  # of the model: see its file
    beside: str = ""  # a bundle ("default") whose frozen encoder reads along: for the ensemble


@dataclass(frozen=True, slots=True, kw_only=True)
class EmpatheticLossOptions:
    """`weights` by the name of a loss, 1 where nothing is said. `gold`: the chance, in the first epoch, that gold
    labels are shown in place of a model's own guesses; in each later one it is `gold_decay` times what it was."""

    label_smoothing: float = 0.0
    weights: dict[str, float] | None = None
    gold: float = 0.0
    gold_decay: float = 0.5


class EmpatheticTask(ReplyTask[EmpatheticDataset]):
    written = ("bleu_2", "bleu_4", "rouge_l", "distinct_2", "length")
    written_tokens = 30
    by_polarity = False

    model: EmpatheticModel
    data: EmpatheticDataOptions

    def __init__(self, recipe: Recipe, folder: Path):
        super().__init__(recipe, "prepend")
        self.data = recipe.table(EmpatheticDataOptions, "data")
        self.loss = recipe.table(EmpatheticLossOptions, "loss")
        wanted = recipe.table(EmpatheticModelOptions, "model")
        empathetic_class(wanted.name)  # an unknown name is said before anything is loaded
        check_options(self.data, self.loss.label_smoothing)
        _check_shares(self.data, self.loss)
        self.prepend: Prepend | None = None
        if "prepend" in recipe.tables:
            asked = recipe.table(PrependOptions, "prepend")
            self.prepend = Prepend.build(**asdict(asked), root=self.data.root or None, folder=folder / "best")
        train, groups = self._read()
        torch.manual_seed(self.options.seed)
        self.model, self.card, self.tokenizer = build_model(
            wanted, self.limits, train, self.prepend, self.data.root
        )
        self.frozen: Any = None
        if wanted.beside:
            from allears.models.generation.beside import FrozenReader

            self.frozen = FrozenReader(wanted.beside)
        self.folder = folder
        self._lay_out(train, groups)
        if not wanted.start:
            said = np.bincount(np.concatenate(self.train.targets), minlength=self.tokenizer.size)
            self.model.output.expect(torch.from_numpy(said))
        _say_size(self.model, self.tokenizer, len(self.train))

    def _dataset(
        self, examples: list[GenerationExample], groups: Sequence[int] | None = None
    ) -> EmpatheticDataset:
        kept = self.folder / f"beside-{'valid' if groups is None else 'train'}.npy"
        return EmpatheticDataset(
            examples,
            self.tokenizer,
            self.card.layout(self.prepend),
            beside=self._beside(examples, kept),
            noise=np.zeros((len(examples), self.model.noise), np.float32),
            groups=groups,
        )

    def _beside(self, examples: list[GenerationExample], kept: Path) -> Features | None:
        """Computed once and kept in the run folder: the frozen encoder says the same in every epoch."""
        if self.frozen is None:
            return None
        if kept.is_file():
            found: Features = np.load(kept)
            if found.shape == (len(examples), self.frozen.size):
                return found
        found = self.frozen.features([example.prompt for example in examples])
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, found)
        return found

    def step(self, batch: list[int], epoch: int, workers: Workers, backward: Backward) -> Tensor:
        """All losses of the model, each by its weight."""
        data = self.train.batch(workers.share(batch)).to(workers.device)
        if self.data.persona_dropout:
            shown = (
                torch.rand(len(batch) // workers.count, 1, device=workers.device) >= self.data.persona_dropout
            )
            data = replace(data, persona=replace(data.persona, mask=data.persona.mask * shown))
        if self.data.hidden:
            context = data.context
            shown = torch.rand(context.ids.shape, device=workers.device) >= self.data.hidden
            shown[:, 0] = True
            data = replace(data, context=replace(context, mask=context.mask * shown))
        learning = Learning(
            smoothing=self.loss.label_smoothing,
            gold=self.loss.gold * self.loss.gold_decay**epoch,
            done=min(1.0, epoch / max(1, self.options.epochs)),
        )
        weights = self.loss.weights or {}
        losses = self.model.losses(data, learning)
        unknown = set(weights) - set(losses)
        if unknown:
            raise AllearsError(
                f"recipe: loss.weights names {min(unknown)!r}; the losses of {self.card.name} are {', '.join(losses)}"
            )
        total = torch.stack([weights.get(name, 1.0) * loss for name, loss in losses.items()]).sum()
        backward(total)
        return total.detach()

    def _generator(self, device: torch.device) -> EmpatheticGenerator:
        return EmpatheticGenerator(
            self.model,
            self.card,
            self.tokenizer,
            prepend=self.prepend,
            device=str(device),
            batch=EVALUATION_BATCH,
            frozen=self.frozen,
        )

    @torch.inference_mode()
    def _measure(self, generator: EmpatheticGenerator, device: torch.device) -> dict[str, float]:
        """`ppl` is `likelihood`, to read; `emotion_accuracy`, where the valid split has emotions."""
        sums = LikelihoodSums()
        for rows in self.held_out.parts(EVALUATION_BATCH):
            batch = self.held_out.batch(rows).to(device)
            likely, emotions = generator.understood(batch)
            sums.total += float((likely.double() * batch.mask).sum())
            sums.tokens += float(batch.mask.sum())
            if emotions is not None:
                known = batch.emotion != NOT_KNOWN
                sums.right += float(((emotions.argmax(-1) == batch.emotion) & known).sum())
                sums.asked += float(known.sum())
        sums.of_words, sums.words = sums.total, sums.tokens
        return sums.report("emotion_accuracy")

    def save(self, folder: Path) -> None:
        save_empathetic(folder, self.model, self.card, self.tokenizer, self.prepend)


def build_model(
    wanted: EmpatheticModelOptions,
    limits: Limits,
    train: Sequence[GenerationExample],
    prepend: Prepend | None = None,
    root: str = "",
) -> tuple[EmpatheticModel, EmpatheticCard, Any]:
    """The model a recipe asks for, before training, with its vocabulary or tokenizer."""
    encoder: Encoder | None = None
    tokenizer: Any
    start = best(wanted.start) if wanted.start else None
    if start is not None and not (start / MODEL_FILE).is_file():
        raise AllearsError(
            f"recipe: model.start {wanted.start!r}: no such run; train it first (the recipe says which), or start from "
            "vectors alone: --set model.start="
        )
    if wanted.encoder:
        if wanted.vocabulary not in (WORDS, wanted.encoder):
            raise AllearsError("recipe: model.encoder reads its own word pieces; leave model.vocabulary out")
        encoder, tokenizer = _reading_encoder(wanted.encoder)
    elif start is not None:
        tokenizer = saved_tokenizer(start)
    elif wanted.vocabulary == WORDS:
        tokenizer = _words(wanted, train, prepend)
    else:
        tokenizer = encoder_tokenizer(wanted.vocabulary)
    card = EmpatheticCard(
        wanted.name,
        limits,
        tokenizer.size,
        emotions=wanted.emotions,
        options=wanted.options or {},
        encoder=None if encoder is None else encoder.config,
        context_turns=wanted.context_turns,
        prepend=None if prepend is None else prepend.settings,
        beside=wanted.beside,
    )
    model = build_empathetic(card, encoder)
    if bool(model.beside) != bool(wanted.beside):
        raise AllearsError(
            f"recipe: model.beside names the frozen encoder of an ensemble; {wanted.name} "
            + ("needs one" if model.beside else "has none")
        )
    if start is not None:
        from allears.models.generation import saved

        load_alike(model, saved.load(start).module)
    elif wanted.vectors:
        if not isinstance(tokenizer, WordVocabulary):
            raise AllearsError(
                'recipe: model.vectors are of whole words; use them with model.vocabulary = "words"'
            )
        model.words.lay_vectors(tokenizer.words_, vectors_file(wanted.vectors, root))
    return model, card, tokenizer


def _words(
    wanted: EmpatheticModelOptions, train: Sequence[GenerationExample], prepend: Prepend | None
) -> Any:
    """Every turn and persona sentence once, as often as it was said; not once for each example it is part of."""
    texts = dict.fromkeys(
        chain.from_iterable(
            (*(turn.text for turn in example.prompt.turns), *example.prompt.own_persona, example.response)
            for example in train
        )
    )
    vocabulary = word_vocabulary(minimum_count=wanted.minimum_count, maximum_size=wanted.maximum_size)
    vocabulary.fit(texts)
    known = set(vocabulary.words_)
    labels = [word for word in prepend.words if word not in known] if prepend is not None else []
    return vocabulary.restore([*vocabulary.words_, *labels])


def _reading_encoder(name: str) -> tuple[Encoder, Any]:
    """A pretrained encoder by hub name or folder, or the one inside a selection, reading or extraction run."""
    if (best(name) / "model.json").is_file():
        return run_encoder(name)
    return load_encoder(name), encoder_tokenizer(name)


def _check_shares(data: EmpatheticDataOptions, loss: EmpatheticLossOptions) -> None:
    shares = {"data.hidden": data.hidden, "loss.gold": loss.gold, "loss.gold_decay": loss.gold_decay}
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise AllearsError(f"recipe: {name} is a share from 0 to 1, got {share}")


def _say_size(model: Any, tokenizer: Any, examples: int) -> None:
    """What the papers print: how large the model is."""
    size, like_paper = parameter_count(model), parameter_count(model, vocabulary=PAPER_VOCABULARY)
    Console(stderr=True).print(
        f"{examples:,} examples, {tokenizer.size:,} words or word pieces, {size / 1e6:.2f}M parameters "
        f"({like_paper / 1e6:.2f}M with the papers' {PAPER_VOCABULARY:,} words)",
        highlight=False,
    )
