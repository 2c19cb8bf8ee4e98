"""A decoder-only language model that learns to support: low-rank adapters (LoRA, Hu et al. 2022) and eight strategies.

W x  becomes  W x + (alpha / rank) B A x        for every linear layer of the body; only A and B learn
E    becomes  [E ; S],  [E ; U] for the output  S, U: eight rows for the strategies, behind the words
r = strategy + response,  L = -1/N sum_t log P(r_t | d, p, r_<t)               (PAL, equation 5)

On disk: `model.json`, the card, with the base model's name; `model.safetensors`, what was learned, in float16 (in int8
where it is shipped: `adapter_file.py`). The base weights are never written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor, nn

from allears.decoding import take_rows
from allears.errors import AllearsError
from allears.models.generation.dataset import padded as padded_rows
from allears.models.language_models import load_chat_tokenizer, load_language_model
from allears.nn.weights import write_text
from allears.runtime.adapter_file import read_adapter
from allears.runtime.causal import BATCH, WEIGHTS_FILE, CausalCard, CausalGenerator, read_card
from allears.runtime.chat_layout import ChatLayout
from allears.runtime.generator import STRATEGIES
from allears.runtime.runs import MODEL_FILE, best
from allears.text.layout import Limits

BATCH_ON_GPU = 256


class CausalModel(nn.Module):
    """`base` with adapters in it; token ids from `words` on are strategies."""

    def __init__(self, base: Any, *, rank: int = 16, alpha: int = 32, dropout: float = 0.05):
        super().__init__()
        self.words: int = base.get_input_embeddings().weight.shape[0]
        vectors = base.get_input_embeddings().weight.detach()
        # As spread out as words are, around where words are.
        self.strategies = nn.Embedding(len(STRATEGIES), vectors.shape[1])
        self.strategy_head = nn.Linear(vectors.shape[1], len(STRATEGIES))
        with torch.no_grad():
            self.strategies.weight.copy_(
                vectors.mean(0) + vectors.std() * torch.randn_like(self.strategies.weight)
            )
            self.strategy_head.weight.normal_(std=0.02)
            self.strategy_head.bias.zero_()
        self.base = with_adapters(base, rank=rank, alpha=alpha, dropout=dropout)

    @property
    def longest(self) -> int:
        return int(getattr(self.base.config, "max_position_embeddings", 0) or 10**6)

    def hidden(
        self, ids: Tensor, *, mask: Tensor | None = None, places: Tensor | None = None, cache: Any = None
    ) -> Any:
        """The body's output for ids [B, T]: states [B, T, d], and the cache where one was given.

        Rows that are padded on the right need no mask while nothing is cached: nobody looks ahead.
        """
        is_strategy = (ids >= self.words).unsqueeze(-1)
        vectors = self.base.get_input_embeddings()(ids.clamp(max=self.words - 1))
        own = self.strategies((ids - self.words).clamp(min=0)).to(vectors.dtype)
        return self.base.get_base_model().base_model(
            inputs_embeds=torch.where(is_strategy, own, vectors),
            attention_mask=mask,
            position_ids=places,
            past_key_values=cache,
            use_cache=cache is not None,
        )

    def logits(self, states: Tensor) -> Tensor:
        """[..., words + 8] in float32."""
        words = self.base.get_output_embeddings()(states)
        return torch.cat([words, self.strategy_head(states).to(words.dtype)], -1).float()

    def likelihood(self, ids: Tensor, rows: Tensor, places: Tensor) -> Tensor:
        """log P [N, words + 8] of whatever follows the tokens at `places` of `rows` (both [N]) of ids [B, T]."""
        states = self.hidden(ids).last_hidden_state
        return self.logits(states[rows, places])

    def learned(self) -> dict[str, Tensor]:
        """What training changes, by name."""
        return {name: value for name, value in self.named_parameters() if value.requires_grad}


def with_adapters(base: Any, *, rank: int, alpha: int, dropout: float, first_layer: int = 0) -> Any:
    """Every linear layer of the body from `first_layer` on gets an adapter; nothing else of it learns.

    Below `first_layer` there is nothing to learn, so the backward pass stops there.
    """
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as error:
        raise AllearsError(
            f'adapters need PEFT, which is not installed; run pip install "allears[train]" ({error})'
        ) from error
    if rank < 1:
        raise AllearsError(f"recipe: model.rank must be at least 1, got {rank}")
    config = LoraConfig(
        r=rank,
        lora_alpha=alpha,
        lora_dropout=dropout,
        target_modules=_linear_layers(base, first_layer) if first_layer else "all-linear",
        task_type="CAUSAL_LM",
    )
    return get_peft_model(base, config)


def _linear_layers(base: Any, first_layer: int) -> list[str]:
    """The names of the body's linear layers from block `first_layer` on."""
    blocks = base.base_model.layers
    if not 0 <= first_layer < len(blocks):
        raise AllearsError(
            f"recipe: model.first_layer must be below {len(blocks)}, the model's layers; got {first_layer}"
        )
    wanted = {id(module) for block in blocks[first_layer:] for module in block.modules()}
    return [
        name
        for name, module in base.named_modules()
        if isinstance(module, nn.Linear) and id(module) in wanted
    ]


class TorchRuntime:
    """Runs a `CausalModel` for a `CausalGenerator`. A state is which cached places are real, then keys and values."""

    def __init__(self, model: CausalModel, device: str = "cpu"):
        self.model, self.device = model.to(device).eval(), torch.device(device)

    def tokens(self, ids: Sequence[int]) -> Tensor:
        return torch.tensor(list(ids), dtype=torch.int64, device=self.device)

    @torch.inference_mode()
    def begin(
        self, heads: Sequence[Sequence[int]], tails: Sequence[Sequence[Sequence[int]]]
    ) -> tuple[Tensor, ...]:
        """The state after each head with each of its tails, one after another."""
        from transformers import DynamicCache

        rows = [[*head, *tail] for head, own in zip(heads, tails, strict=True) for tail in own]
        ids, mask = padded(rows, self.device)
        cache = DynamicCache()
        with self._autocast():
            self.model.hidden(ids, cache=cache)
        return (mask.long(), *_cached(cache))

    @torch.inference_mode()
    def step(self, tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        from transformers import DynamicCache

        mask, *cached = state
        places = mask.sum(1, keepdim=True)
        mask = F.pad(mask, (0, 1), value=1)
        cache = DynamicCache([(cached[place], cached[place + 1]) for place in range(0, len(cached), 2)])
        with self._autocast():
            found = self.model.hidden(tokens[:, None], mask=mask, places=places, cache=cache)
            logits = self.model.logits(found.last_hidden_state[:, -1])
        return logits, (mask, *_cached(cache))

    def reorder(self, state: tuple[Tensor, ...], rows: Sequence[int]) -> tuple[Tensor, ...]:
        return take_rows(state, rows)

    @torch.inference_mode()
    def likelihood(
        self, prompts: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """log P of every target's tokens, each after its prompt and the tokens before it."""
        ids, _ = padded(
            [[*prompt, *target[:-1]] for prompt, target in zip(prompts, targets, strict=True)], self.device
        )
        rows, places = target_places(prompts, targets)
        with self._autocast():
            logits = self.model.likelihood(ids, self.tokens(rows), self.tokens(places))
        wanted = self.tokens([token for target in targets for token in target])
        found = logits.log_softmax(-1).gather(1, wanted[:, None])[:, 0].double().tolist()
        borders = np.cumsum([0, *map(len, targets)]).tolist()
        return [found[start:stop] for start, stop in pairwise(borders)]

    def _autocast(self) -> Any:
        return torch.autocast("cuda", torch.bfloat16, enabled=self.device.type == "cuda")


def _cached(cache: Any) -> list[Tensor]:
    return [part for layer in cache.layers for part in (layer.keys, layer.values)]


def target_places(
    prompts: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> tuple[list[int], list[int]]:
    """The row and the place from which each token of the targets is told: the one before it."""
    rows: list[int] = []
    places: list[int] = []
    for row, (prompt, target) in enumerate(zip(prompts, targets, strict=True)):
        rows += [row] * len(target)
        places += range(len(prompt) - 1, len(prompt) - 1 + len(target))
    return rows, places


def padded(rows: Sequence[Sequence[int]], device: torch.device | str) -> tuple[Tensor, Tensor]:
    """[B, longest] with zeros on the right, and where it is real; at least one place wide."""
    ids, mask = padded_rows([np.asarray(row, np.int64) for row in rows], 0)
    return ids.to(device), mask.to(device)


@dataclass(frozen=True, slots=True)
class LoadedCausal:
    """A language model, its card and its layout: what training goes on with."""

    model: CausalModel
    card: CausalCard
    layout: ChatLayout


def build(
    base: str,
    limits: Limits,
    *,
    context_turns: int,
    strategy_first: bool,
    rank: int,
    alpha: int,
    dropout: float,
) -> LoadedCausal:
    """A fresh adapter on a base model."""
    tokenizer, whole = load_chat_tokenizer(base), load_language_model(base)
    model = CausalModel(whole, rank=rank, alpha=alpha, dropout=dropout)
    card = CausalCard(
        base=base,
        limits=limits,
        frames=tokenizer.frames,
        words=model.words,
        end=tokenizer.end,
        adapter={"rank": rank, "alpha": alpha, "dropout": dropout},
        context_turns=context_turns,
        strategy_first=strategy_first,
    )
    return LoadedCausal(model, card, ChatLayout(tokenizer, card.frames, limits, context_turns, card.words))


def save(folder: Path, model: CausalModel, card: CausalCard) -> None:
    """Only what was learned; each file is complete or absent."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / MODEL_FILE, json.dumps(asdict(card), indent=1) + "\n")
    learned = {
        plain_name(name): value.detach().cpu().half().contiguous() for name, value in model.learned().items()
    }
    temporary = folder / f"{WEIGHTS_FILE}.part"
    save_file(learned, temporary)
    temporary.rename(folder / WEIGHTS_FILE)


def plain_name(name: str) -> str:
    """A weight's name without PEFT's wrapping: "model.layers.0.self_attn.q_proj.lora_A"."""
    return name.removeprefix("base.base_model.model.").replace(".default.weight", "")


def load_learned(folder: Path, model: CausalModel) -> None:
    path = folder / WEIGHTS_FILE
    found = read_adapter(path)
    with torch.no_grad():
        for name, value in model.learned().items():
            plain = plain_name(name)
            if plain not in found or found[plain].shape != value.shape:
                raise AllearsError(
                    f"{path}: the adapter is of another model ({plain} is missing or of another shape)"
                )
            value.copy_(torch.from_numpy(found[plain]))


def load_adapted(folder: Path | str, *, dropout: float | None = None) -> LoadedCausal:
    """What is in a run's folder, on its base model; with another dropout to go on training."""
    folder = best(folder)
    card = read_card(folder)
    options = dict(card.adapter) | ({} if dropout is None else {"dropout": dropout})
    tokenizer = load_chat_tokenizer(card.base)
    tokenizer.end = card.end
    model = CausalModel(load_language_model(card.base), **options)
    if model.words != card.words:
        raise AllearsError(
            f"{folder}: the adapter belongs to another model than the {card.base!r} that is here"
        )
    load_learned(folder, model)
    return LoadedCausal(
        model, card, ChatLayout(tokenizer, card.frames, card.limits, card.context_turns, card.words)
    )


def load(folder: Path | str, device: str = "cpu") -> CausalGenerator:
    """The generator in a run folder (or in its `best/`), for torch."""
    found = load_adapted(folder)
    batch = BATCH if device == "cpu" else BATCH_ON_GPU
    return CausalGenerator(TorchRuntime(found.model, device), found.card, found.layout, batch=batch)
