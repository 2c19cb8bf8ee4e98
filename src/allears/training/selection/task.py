"""The training task of response selection: which data, which model, which negatives, which teacher."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from allears.conversation import Example
from allears.corpora import data_root
from allears.corpora.split_examples import split_examples
from allears.errors import AllearsError
from allears.evaluation.selection import evaluate_selection
from allears.models.generation.prepend import Prepend, PrependOptions
from allears.models.selection import saved
from allears.models.selection.contract import ReadsSpelling, SelectionModel
from allears.nn.encoder import Encoder, encoder_tokenizer
from allears.nn.pretrained import load_encoder
from allears.text.layout import Limits
from allears.text.tokenizer import Tokenizer, WordVocabulary
from allears.training.loop import Backward
from allears.training.recipe import Recipe, only_tables, parse, sample
from allears.training.selection.dataset import SelectionDataset, SelectionLayout
from allears.training.selection.losses import SelectionBatch, SelectionLossOptions, step
from allears.training.selection.mining import mine_negatives, teacher_scores
from allears.training.selection.teachers import likelihoods, read_teachers
from allears.training.vectors import vectors_file
from allears.training.workers import Workers


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionDataOptions:
    """`train` names corpora (or .jsonl files); several are joined. `valid` is one."""

    train: tuple[str, ...]
    valid: str
    root: str = ""  # default: ALLEARS_DATA
    train_split: str = "train"
    valid_split: str = "valid"
    every_turn: bool = False  # also learn to answer as the seeker: more pairs for further pre-training
    context_turns: int = 0  # 0: as the corpus's paper does
    persona: bool = True
    train_limit: int = 0  # a seeded sample of each corpus's examples; 0: all
    valid_limit: int = 0
    candidates: int = 100
    hidden: float = 0.0  # share of the tokens that a step does not show, against learning texts by heart


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionModelOptions:
    """`start` continues from another run's weights (those whose names and shapes agree)."""

    name: str
    encoder: str = ""
    start: str = ""
    options: dict[str, Any] | None = None
    vectors: str = ""  # word vectors in the GloVe layout, for the word models


@dataclass(frozen=True, slots=True, kw_only=True)
class NegativeOptions:
    """Hard negatives mined with another run; a teacher's scores of them, to distil."""

    mine_with: str = ""
    per_example: int = 0
    random: int = 0  # how many of them are drawn from everywhere instead of nearby
    skip: int = 5  # the nearest neighbours are often just as good as the truth
    depth: int = 100  # drawn from the first `depth` neighbours
    in_batch: bool = True  # other responses of the batch are negatives too
    symmetric: bool = False  # and responses choose their contexts as well
    teacher: str = ""
    teachers: tuple[str, ...] = ()  # Bi-encoders that judge all pairs of a batch; no negatives need be mined
    distillation: float = 1.0
    temperature: float = 1.0
    part: int = 256  # texts encoded together: small parts need little padding, large ones fewer passes
    cached: bool = False  # cached gradients: the memory of one part, the negatives of the whole batch


EVALUATION_BATCH = 64


class SelectionTask:
    def __init__(self, recipe: Recipe, folder: Path):
        only_tables(recipe, {"data", "model", "limits", "negatives", "prepend"})
        self.options = recipe.training
        self.data = parse(SelectionDataOptions, recipe.tables.get("data", {}), "data")
        self.negatives = parse(NegativeOptions, recipe.tables.get("negatives", {}), "negatives")
        wanted = parse(SelectionModelOptions, recipe.tables.get("model", {}), "model")
        limits = parse(Limits, recipe.tables.get("limits", {}), "limits")
        root = data_root(self.data.root or None)
        turns = self.data.context_turns or None
        parts = [
            sample(
                split_examples(name, self.data.train_split, root, turns, every_turn=self.data.every_turn),
                self.data.train_limit,
                self.options.seed,
            )
            for name in self.data.train
        ]
        train = [example for part in parts for example in part]
        groups = [number for number, part in enumerate(parts) for _ in part]
        self.valid = split_examples(self.data.valid, self.data.valid_split, root, turns)
        self.prepend: Prepend | None = None
        if "prepend" in recipe.tables:
            asked = parse(PrependOptions, recipe.tables["prepend"], "prepend")
            self.prepend = Prepend.build(**asdict(asked), root=root, folder=folder / "best")
            train = _in_front(train, self.prepend)
        torch.manual_seed(self.options.seed)
        self.model, self.card, self.tokenizer = build_model(wanted, limits, train, self.data.root)
        if self.prepend is not None:
            self.card = replace(self.card, prepend=self.prepend.settings)
        layout = SelectionLayout(self.model.nested_context, self.model.nested_persona)
        self.train = SelectionDataset(
            train,
            self.tokenizer,
            limits,
            layout,
            seed=self.options.seed,
            use_persona=self.data.persona,
            groups=groups,
        )
        self.data_fingerprint = self.train.fingerprint
        self.mined: np.ndarray | None = None
        self.teacher: np.ndarray | None = None
        if self.negatives.per_example:
            self._prepare_negatives(folder)
        self.teachers = read_teachers(self.negatives.teachers, self.train, _device())

    def _prepare_negatives(self, folder: Path) -> None:
        """Mined once and kept in the run folder, so that a resumed run has the very same ones."""
        kept = folder / "negatives.npz"
        if kept.is_file():
            with np.load(kept) as file:
                self.mined, self.teacher = file["mined"], file.get("teacher", None)
            return
        options = self.negatives
        device = _device()
        miner = saved.load(options.mine_with, device)
        self.mined = mine_negatives(
            miner,
            self.train,
            options.per_example,
            random=options.random,
            skip=options.skip,
            depth=options.depth,
            seed=self.options.seed,
        )
        if options.teacher:
            teacher = saved.load(options.teacher, device)
            self.teacher = teacher_scores(teacher, self.train, self.mined)
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / "negatives.part.npz"
        if self.teacher is None:
            np.savez(temporary, mined=self.mined)
        else:
            np.savez(temporary, mined=self.mined, teacher=self.teacher)
        temporary.rename(kept)

    def batches(self, epoch: int) -> list[list[int]]:
        return self.train.batches(self.options.batch, epoch)

    def step(self, batch: list[int], epoch: int, workers: Workers, backward: Backward) -> Tensor:
        rows = workers.share(batch)
        prepared = self._batch(rows, epoch).to(workers.device)
        if self.teachers:
            own = torch.tensor(rows, device=workers.device)
            prepared = replace(prepared, likely=likelihoods(self.teachers, own, workers.gather_tensor(own)))
        return step(
            self.model,
            prepared.hiding(self.data.hidden) if self.data.hidden else prepared,
            workers,
            backward,
            SelectionLossOptions(
                in_batch=self.negatives.in_batch,
                symmetric=self.negatives.symmetric,
                cached=self.negatives.cached,
                distillation=self.negatives.distillation,
            ),
        )

    def _batch(self, rows: list[int], epoch: int) -> SelectionBatch:
        data, part = self.train, self.negatives.part
        groups = [rows[start : start + part] for start in range(0, len(rows), part)]
        responses, places = data.responses_of(rows, part)
        batch = SelectionBatch(
            contexts=[data.contexts(group) for group in groups],
            personas=[data.personas_of(group, epoch) for group in groups] if data.has_persona else None,
            responses=responses,
            response_places=torch.from_numpy(places),
            numbers=torch.from_numpy(data.response_numbers[rows]),
        )
        if self.mined is not None:
            mined, mined_places = data.responses_of(self.mined[rows].ravel().tolist(), part)
            shape = (len(rows), self.negatives.per_example)
            batch = replace(batch, mined=mined, mined_places=torch.from_numpy(mined_places.reshape(shape)))
        if self.teacher is not None:
            batch = replace(batch, teacher=torch.from_numpy(self.teacher[rows] / self.negatives.temperature))
        return batch

    def evaluate(self, device: torch.device) -> dict[str, float]:
        selector = saved.TorchSelector(
            self.model, self.card, self.tokenizer, device=str(device), prepend=self.prepend
        )
        report = evaluate_selection(
            selector,
            self.valid,
            candidates=self.data.candidates,
            batch=EVALUATION_BATCH,
            persona_sentences=None if self.data.persona else 0,
            limit=self.data.valid_limit or None,
        )
        return {
            name: getattr(report, name) for name in ("recall_at_1", "recall_at_10", "recall_at_50", "mrr")
        }

    def save(self, folder: Path) -> None:
        saved.save(folder, self.model, self.card, self.tokenizer, self.prepend)


def _in_front(examples: list[Example], prepend: Prepend) -> list[Example]:
    """Contexts and responses with their labels in front (the ED paper's EmoPrepend and TopicPrepend)."""
    contexts = prepend.contexts([example.context for example in examples])
    responses = prepend.in_front([example.response.text for example in examples])
    return [
        replace(example, context=context, response=replace(example.response, text=text))
        for example, context, text in zip(examples, contexts, responses, strict=True)
    ]


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def build_model(
    wanted: SelectionModelOptions, limits: Limits, train: list[Example], root: str = ""
) -> tuple[SelectionModel, saved.ModelCard, Tokenizer]:
    """The model a recipe asks for, before training, with its tokenizer."""
    saved.model_class(wanted.name)  # an unknown name is said before anything is loaded
    if wanted.name in saved.WORD_MODELS:
        return _word_model(wanted, limits, train, root)
    return _encoder_model(wanted, limits)


def _word_model(
    wanted: SelectionModelOptions, limits: Limits, train: list[Example], root: str
) -> tuple[SelectionModel, saved.ModelCard, Tokenizer]:
    vocabulary = WordVocabulary().fit(
        text
        for example in train
        for text in (*(t.text for t in example.context), example.response.text, *example.persona.texts)
    )
    card = saved.ModelCard(wanted.name, _options(wanted), limits, vocabulary_size=vocabulary.size)
    model: Any = saved.build(card)
    if isinstance(model, ReadsSpelling):
        model.set_words(vocabulary.words_)
    if wanted.vectors:
        model.load_vectors(vocabulary.words_, vectors_file(wanted.vectors, root))
    return model, card, vocabulary


def _encoder_model(
    wanted: SelectionModelOptions, limits: Limits
) -> tuple[SelectionModel, saved.ModelCard, Tokenizer]:
    tokenizer: Tokenizer
    other: SelectionModel | None = None
    if wanted.start:
        start = saved.load(wanted.start)
        other, encoder, tokenizer = start.model, getattr(start.model, "encoder", None), start.tokenizer
        if not isinstance(encoder, Encoder):
            raise AllearsError(f"recipe: model.start {wanted.start!r} has no encoder to go on from")
    elif wanted.encoder:
        encoder, tokenizer = load_encoder(wanted.encoder), encoder_tokenizer(wanted.encoder)
    else:
        raise AllearsError(
            "recipe: [model] needs `encoder` (a hub name or a folder) or `start` (a run folder)"
        )
    card = saved.ModelCard(wanted.name, _options(wanted), limits, encoder=encoder.config)
    model = saved.build(card, encoder)
    if other is not None and type(other) is type(model):  # go on with the head as well, where it is the same
        alike = {key: value for key, value in other.state_dict().items() if key in model.state_dict()}
        model.load_state_dict(alike, strict=False)
    return model, card, tokenizer


def _options(wanted: SelectionModelOptions) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in (wanted.options or {}).items()}
