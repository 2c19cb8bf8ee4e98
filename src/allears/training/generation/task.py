"""The training task of generators: which conversations, which model, and how far it has learned to write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from allears.errors import AllearsError
from allears.models.generation import saved
from allears.models.generation.dataset import GenerationDataset
from allears.models.generation.examples import GenerationExample
from allears.models.generation.torch_generator import TorchGenerator, dataset_for_model
from allears.models.generation.writer import GenerationModel
from allears.nn.encoder import Encoder, encoder_of, encoder_tokenizer
from allears.nn.pretrained import load_encoder
from allears.nn.weights import load_alike
from allears.runtime.generator import STRATEGIES
from allears.text.layout import Limits
from allears.text.tokenizer import WordPiece
from allears.training.generation.base import (
    EVALUATION_BATCH,
    GenerationDataOptions,
    GenerationLossOptions,
    LikelihoodSums,
    ReplyTask,
    check_options,
)
from allears.training.loop import Backward
from allears.training.recipe import Recipe
from allears.training.workers import Workers

_OWN_OPTIONS = {"pal": ("mixture",), "misc": ("source",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationModelOptions:
    """One of `encoder` (a BERT-family encoder, with a new decoder), `pretrained` (an encoder-decoder) and `start`
    (a run: a generator's goes on whole, of any other kind only the encoder), which comes before the others."""

    name: str = "pal"  # pal | joint | hard_prompt | misc
    encoder: str = ""
    pretrained: str = ""
    start: str = ""
    layers: int = 6
    heads: int = 6
    inner: int = 4
    dropout: float = 0.1
    own_words: bool = False  # word vectors of the decoder's own: better, and as large as the encoder's
    mixture: str = "joined"  # of PAL: see `pal.py`
    source: str = "lexicon"  # of MISC: see `mental_states.py`
    context_turns: int = 8
    strategy_first: bool = True  # every reply begins with its strategy; false: only where the data say so


class GenerationTask(ReplyTask[GenerationDataset]):
    model: GenerationModel

    def __init__(self, recipe: Recipe, folder: Path):
        super().__init__(recipe)
        self.data = recipe.table(GenerationDataOptions, "data")
        self.loss = recipe.table(GenerationLossOptions, "loss")
        wanted = recipe.table(GenerationModelOptions, "model")
        check_options(self.data, self.loss.label_smoothing)
        torch.manual_seed(self.options.seed)
        self.model, self.card, self.tokenizer = build_generator(wanted, self.limits)
        self._lay_out(*self._read())

    def _dataset(
        self, examples: list[GenerationExample], groups: Sequence[int] | None = None
    ) -> GenerationDataset:
        return dataset_for_model(self.model, self.card, self.tokenizer, examples, groups)

    def step(self, batch: list[int], epoch: int, workers: Workers, backward: Backward) -> Tensor:
        """Equation 5 over the tokens of the batch, with label smoothing."""
        context, persona, targets, mask = self.train.batch(workers.share(batch)).to(workers.device)
        if self.data.persona_dropout:
            shown = torch.rand(len(targets), device=workers.device) >= self.data.persona_dropout
            persona = replace(persona, mask=persona.mask * shown[:, None])
        decoder = self.model.decoder
        memory, choice = self.model.read_choosing(context, persona)
        likely, all_words = decoder.likelihood(targets, memory, decoder.table(self.model.encoder))
        smooth = self.loss.label_smoothing
        losses = -((1 - smooth) * likely + smooth * all_words)
        weights = torch.where(targets >= decoder.first_strategy, self.loss.strategy, 1.0) * mask
        loss = (losses * weights).sum() / weights.sum()
        if choice is not None:
            loss = loss + self.loss.choice * choice_loss(choice, targets[:, 0] - decoder.first_strategy)
        backward(loss)
        return loss.detach()

    def _generator(self, device: torch.device) -> TorchGenerator:
        return TorchGenerator(
            self.model, self.card, self.tokenizer, device=str(device), batch=EVALUATION_BATCH
        )

    @torch.inference_mode()
    def _measure(self, generator: TorchGenerator, device: torch.device) -> dict[str, float]:
        """`likelihood` counts strategies (equation 5), `ppl` is of words and end alone; `strategy_accuracy`, where the
        valid split has strategies."""
        decoder = self.model.decoder
        first, sums = decoder.first_strategy, LikelihoodSums()
        table = decoder.table(self.model.encoder)
        for rows in self.held_out.parts(EVALUATION_BATCH):
            context, persona, targets, mask = self.held_out.batch(rows).to(device)
            with generator.autocast():
                memory = self.model.read(context, persona)
                likely, _ = decoder.likelihood(targets, memory, table)
                begun = tuple(decoder.begin(memory, table))
                start = torch.full((len(rows),), decoder.start, device=device)
                next_one, _ = decoder.step(start, begun, table)
            is_strategy = targets[:, 0] >= first
            sums.total += float((likely.double() * mask).sum())
            sums.tokens += float(mask.sum())
            mask[:, 0] &= ~is_strategy
            sums.of_words += float((likely.double() * mask).sum())
            sums.words += float(mask.sum())
            guessed = first + next_one[:, first : first + len(STRATEGIES)].argmax(-1)
            sums.right += float(((guessed == targets[:, 0]) & is_strategy).sum())
            sums.asked += float(is_strategy.sum())
        return sums.report("strategy_accuracy")

    def save(self, folder: Path) -> None:
        saved.save(folder, self.model, self.card, self.tokenizer)


def choice_loss(choice: Tensor, gold: Tensor) -> Tensor:
    """Cross-entropy of logits [B, 8] with the strategies people chose; below 0 they chose none."""
    if not (gold >= 0).any():
        return choice.sum() * 0.0
    return F.cross_entropy(choice.float(), gold.clamp(min=-1), ignore_index=-1)


def build_generator(
    wanted: GenerationModelOptions, limits: Limits
) -> tuple[GenerationModel, saved.GeneratorCard, Any]:
    """The generator a recipe asks for, before training, with its tokenizer."""
    saved.model_class(wanted.name)  # an unknown name is said before anything is loaded
    given = [name for name in ("encoder", "pretrained") if getattr(wanted, name)]
    if len(given) != 1 and not wanted.start:
        raise AllearsError(
            "recipe: [model] needs one of `encoder` (a hub name or a folder), `pretrained` (an encoder-decoder) "
            f"and `start` (a run folder); got {' and '.join(given) or 'none'}"
        )
    other: TorchGenerator | None = None
    encoder: Any
    decoder: Any = None
    tokenizer: Any
    if wanted.start:
        encoder, decoder, tokenizer, other = _start(wanted.start)
        if other is not None:
            _same_length(other.card, limits)
    elif wanted.pretrained:
        from allears.models.generation.seq2seq import PretrainedTokenizer, load_pretrained

        encoder, decoder = load_pretrained(wanted.pretrained)
        tokenizer = PretrainedTokenizer(wanted.pretrained)
    else:
        encoder, tokenizer = load_encoder(wanted.encoder), encoder_tokenizer(wanted.encoder)
    if decoder is None and encoder.size % wanted.heads:
        raise AllearsError(
            f"recipe: model.heads must divide the encoder's width of {encoder.size}, got {wanted.heads}"
        )
    _fits(encoder, limits)
    card = saved.GeneratorCard(
        wanted.name,
        limits,
        encoder.config,
        decoder=_decoder_options(wanted, other) if decoder is None else {},
        options={key: getattr(wanted, key) for key in _OWN_OPTIONS.get(wanted.name, ())},
        context_turns=wanted.context_turns,
        strategy_first=wanted.strategy_first,
        pretrained=decoder is not None,
    )
    model = saved.build(card, (encoder, decoder))
    if other is not None:
        load_alike(model, other.module)
    return model, card, tokenizer


def _decoder_options(wanted: GenerationModelOptions, other: TorchGenerator | None) -> dict[str, Any]:
    """What goes on from a generator has that one's decoder, but for its dropout."""
    if other is not None:
        return {**other.card.decoder, "dropout": wanted.dropout}
    names = ("layers", "heads", "inner", "dropout", "own_words")
    return {name: getattr(wanted, name) for name in names}


def _same_length(card: saved.GeneratorCard, limits: Limits) -> None:
    if not card.pretrained and card.limits.response_tokens != limits.response_tokens:
        raise AllearsError(
            f"recipe: limits.response_tokens is {limits.response_tokens}, but the run of model.start has learned to "
            f"write {card.limits.response_tokens}; give the same number"
        )


def _start(folder: str) -> tuple[Any, Any, Any, TorchGenerator | None]:
    """Encoder, decoder (a pretrained one's only), tokenizer, and the generator to go on from, of a run."""
    if saved.is_generator(folder):
        start = saved.load(folder)
        decoder = start.model.decoder if start.card.pretrained else None
        return start.model.encoder, decoder, start.tokenizer, start
    encoder, tokenizer = run_encoder(folder)
    return encoder, None, tokenizer, None


def run_encoder(folder: str) -> tuple[Encoder, WordPiece]:
    """The encoder of a selection, reading or extraction run, with its tokenizer."""
    from allears.models.extractor import saved as extraction
    from allears.models.reader import saved as reading
    from allears.models.selection import saved as selection

    kinds = {reading.is_reader: reading.load, extraction.is_extractor: extraction.load}
    load: Any = next((found for is_one, found in kinds.items() if is_one(folder)), selection.load)
    return encoder_of(load(folder), folder)


def _fits(encoder: Any, limits: Limits) -> None:
    longest = getattr(encoder, "longest", None) or getattr(encoder.settings, "max_position_embeddings", 0)
    persona = 1 + limits.persona_sentences * (limits.persona_sentence_tokens + 1)
    for name, tokens in (("context_tokens", limits.context_tokens), ("persona_sentences", persona)):
        if longest and tokens > longest:
            raise AllearsError(
                f"recipe: limits.{name} asks for {tokens} tokens at once, but the encoder reads at most {longest}"
            )
