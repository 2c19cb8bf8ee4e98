"""A trained selection model on disk: `model.json` (what it is), `model.safetensors` (its weights), and its
tokenizer. `load` gives back a `TorchSelector`, the torch side of the `Selector` protocol."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from allears.errors import AllearsError
from allears.models.generation.prepend import Prepend
from allears.models.selection.contract import SelectionModel
from allears.nn.encoder import Encoder, encoder_tokenizer
from allears.nn.inputs import Encoded, Inputs, stack
from allears.nn.weights import load_weights, save_weights, write_text
from allears.runtime.features import persona_tokens, query_tokens, response_tokens
from allears.runtime.selector import Indices, Query, Scores
from allears.runtime.two_stage import TwoStage
from allears.text.layout import Limits
from allears.text.tokenizer import Tokenizer, WordPiece, WordVocabulary

# name in a recipe -> module:class. Word models read a learned word vocabulary, the others a pretrained encoder.
WORD_MODELS = {"bow": "bow:BagOfWords", "hlstm": "hlstm:HLSTM", "dim": "dim:DIM"}
ENCODER_MODELS = {
    "bi_encoder": "bi_encoder:BiEncoder",
    "poly_encoder": "poly_encoder:PolyEncoder",
    "cobert": "cobert:CoBERT",
    "memnet": "memnet:MemNet",
    "dam": "dam:DAM",
    "bert_dim": "bert_dim:BertDIM",
    "cross_encoder": "cross_encoder:CrossEncoder",
}


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Everything needed to build the model again before its weights are loaded."""

    name: str
    options: dict[str, Any]
    limits: Limits
    encoder: dict[str, Any] | None = None  # the encoder's configuration
    vocabulary_size: int | None = None
    prepend: dict[str, Any] | None = None  # labels in front of all it reads: `generation.prepend`


def model_class(name: str) -> type[SelectionModel]:
    where = (WORD_MODELS | ENCODER_MODELS).get(name)
    if where is None:
        known = ", ".join(WORD_MODELS | ENCODER_MODELS)
        raise AllearsError(f"unknown selection model {name!r}; known are {known}")
    module, _, attribute = where.partition(":")
    found: type[SelectionModel] = getattr(import_module(f"allears.models.selection.{module}"), attribute)
    return found


def build(card: ModelCard, encoder: Encoder | None = None) -> SelectionModel:
    """The model a card describes; with `encoder` given, on top of those weights."""
    kind = model_class(card.name)
    try:
        if card.name in WORD_MODELS:
            return kind(vocabulary_size=card.vocabulary_size, **card.options)
        return kind(encoder or Encoder.from_config(card.encoder or {}), **card.options)
    except TypeError as error:
        raise AllearsError(f"model {card.name!r}: {error}") from error


def save(
    folder: Path, model: nn.Module, card: ModelCard, tokenizer: Tokenizer, prepend: Prepend | None = None
) -> None:
    """Write a model folder; each file is complete or absent."""
    folder.mkdir(parents=True, exist_ok=True)
    if prepend is not None:
        prepend.save(folder)
    if isinstance(tokenizer, WordPiece):
        tokenizer.backend.save(str(folder / "tokenizer.json"))
    elif isinstance(tokenizer, WordVocabulary):
        write_text(folder / "vocabulary.txt", "\n".join(tokenizer.words_) + "\n")
    write_text(folder / "model.json", json.dumps(asdict(card), indent=1, default=str) + "\n")
    save_weights(folder / "model.safetensors", model)


def load(folder: Path | str, device: str = "cpu") -> TorchSelector:
    """The selector in a run folder (or in its `best/`)."""
    folder = Path(folder)
    if (folder / "best" / "model.json").is_file():
        folder = folder / "best"
    if not (folder / "model.json").is_file():
        raise AllearsError(f"{folder}: no model.json here; give the folder of a finished `allears train`")
    try:
        saved = json.loads((folder / "model.json").read_text())
        card = ModelCard(**(saved | {"limits": Limits(**saved["limits"])}))
    except (json.JSONDecodeError, TypeError, KeyError) as error:
        raise AllearsError(f"{folder / 'model.json'}: not a model card ({error})") from error
    model = build(card)
    load_weights(folder / "model.safetensors", model)
    tokenizer: Tokenizer
    if (folder / "vocabulary.txt").is_file():
        tokenizer = WordVocabulary().restore((folder / "vocabulary.txt").read_text().splitlines())
    else:
        tokenizer = encoder_tokenizer(folder)
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()[:16]
    prepend = None if card.prepend is None else Prepend.build(**card.prepend, folder=folder)
    return TorchSelector(model, card, tokenizer, fingerprint=digest, device=device, prepend=prepend)


class TorchSelector:
    """A selection model with its tokenizer, on any torch device."""

    def __init__(
        self,
        model: SelectionModel,
        card: ModelCard,
        tokenizer: Tokenizer,
        *,
        fingerprint: str = "",
        device: str = "cpu",
        batch: int = 256,
        prepend: Prepend | None = None,
    ):
        self.model, self.card, self.tokenizer = model.to(device).eval(), card, tokenizer
        self.fingerprint, self.device, self.batch = fingerprint, device, batch
        self.prepend = prepend

    @torch.inference_mode()
    def encode_responses(self, texts: Sequence[str]) -> Encoded:
        """All candidates, [N, ...], padded to the longest of them. Encoded shortest first, to save padding."""
        if not texts:
            raise AllearsError("there are no candidates to encode; the pool is empty")
        shown = list(texts) if self.prepend is None else self.prepend.in_front(texts)
        tokens = response_tokens(shown, self.tokenizer, self.card.limits)
        inputs = Inputs.from_tokens(tokens)
        lengths = inputs.mask.sum(-1)
        order = lengths.argsort()
        parts = []
        for start in range(0, len(texts), self.batch):
            rows = order[start : start + self.batch]
            width = max(1, int(lengths[rows].max()))
            part = inputs[rows][:, :width].to(self.device)
            with self._autocast():
                parts.append(self.model.encode_response(part))
        back = order.argsort().to(self.device)
        return stack(parts)[back]

    @torch.inference_mode()
    def score(self, queries: Sequence[Query], candidates: Encoded, chosen: Indices) -> Scores:
        if not len(queries):
            return np.zeros((0, chosen.shape[1]), np.float32)
        model, limits, queries = self.model, self.card.limits, self._shown(queries)
        context = query_tokens(queries, self.tokenizer, limits, nested=model.nested_context)
        persona = persona_tokens(queries, self.tokenizer, limits, nested=model.nested_persona)
        with self._autocast():
            encoded = model.encode_context(Inputs.from_tokens(context).to(self.device))
            known = (
                model.encode_persona(Inputs.from_tokens(persona).to(self.device))
                if persona is not None
                else None
            )
            rows = torch.from_numpy(chosen).to(self.device)
            scores = model.score(encoded, known, candidates[rows])
        return scores.float().cpu().numpy()

    def two_stage(self) -> TwoStage:
        """As the index sees it: a Bi-encoder or CoBERT. Any other model is an `AllearsError`."""
        from allears.models.selection.two_stage_torch import TorchTwoStage

        return TorchTwoStage(self)

    @torch.inference_mode()
    def query_vectors(self, queries: Sequence[Query]) -> torch.Tensor:
        """The contexts' vectors [B, d], for the first stage of a search."""
        shown = self._shown(queries)
        tokens = query_tokens(shown, self.tokenizer, self.card.limits, nested=self.model.nested_context)
        with self._autocast():
            vector = self.model.encode_context(Inputs.from_tokens(tokens).to(self.device)).vector
        if vector is None:
            raise AllearsError(
                f"a {self.card.name} makes no vectors to search by; use a bi_encoder or a pooled cobert"
            )
        return vector.float()

    def _shown(self, queries: Sequence[Query]) -> Sequence[Query]:
        """As the model reads them: with labels in front, where it learned so."""
        if self.prepend is None:
            return queries
        contexts = self.prepend.contexts([query.context for query in queries])
        return [replace(query, context=turns) for query, turns in zip(queries, contexts, strict=True)]

    def _autocast(self) -> Any:
        return torch.autocast("cuda", torch.bfloat16, enabled=str(self.device).startswith("cuda"))
