"""Any pretrained encoder-decoder as encoder and decoder of a generator: `facebook/blenderbot_small-90M`, BART, T5, ...

PAL, Joint and Hard Prompt work on it unchanged. The strategies become eight new tokens at the end of its vocabulary.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.cache_utils import EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput
from transformers.utils import logging

from allears.errors import AllearsError
from allears.models.generation.writer import EncoderMemory, Scored, Writes
from allears.nn.inputs import Inputs
from allears.runtime.generator import STRATEGIES


class PretrainedEncoder(nn.Module):
    """The encoder of an encoder-decoder, with the face of `nn.encoder.Encoder`."""

    def __init__(self, whole: Any):
        super().__init__()
        self.model = whole.get_encoder()
        self.settings = whole.config
        self.size: int = whole.config.hidden_size
        self.longest: int = getattr(whole.config, "max_position_embeddings", 0) or 10**6  # T5 has no limit

    @property
    def config(self) -> dict[str, Any]:
        return {**self.settings.to_diff_dict(), "model_type": self.settings.model_type}

    def forward(self, inputs: Inputs) -> Tensor:
        states: Tensor = self.model(
            input_ids=inputs.ids, attention_mask=inputs.mask, return_dict=True
        ).last_hidden_state
        return states


class PretrainedDecoder(Writes):
    """The decoder of an encoder-decoder. Its state: the memory's states and mask, then each layer's keys and values."""

    def __init__(self, whole: Any):
        super().__init__()
        self.model = whole
        self.first_strategy = whole.config.vocab_size - len(STRATEGIES)
        start = whole.config.decoder_start_token_id
        self.start = whole.config.bos_token_id if start is None else start

    def table(self, encoder: nn.Module) -> Tensor:
        return torch.empty(0)  # it has its own

    def begin(self, memory: EncoderMemory, table: Tensor) -> tuple[Tensor, ...]:
        return (memory.states, memory.mask)

    def step(
        self, tokens: Tensor, state: tuple[Tensor, ...], table: Tensor
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        states, mask, *cached = state
        layers = [tuple(cached[place : place + 4]) for place in range(0, len(cached), 4)]
        output = self._run(tokens[:, None], states, mask, EncoderDecoderCache(layers) if layers else None)
        cache = output.past_key_values
        grown = [
            part
            for own, source in zip(
                cache.self_attention_cache.layers, cache.cross_attention_cache.layers, strict=True
            )
            for part in (own.keys, own.values, source.keys, source.values)
        ]
        return output.logits[:, -1].float().log_softmax(-1), (states, mask, *grown)

    def likelihood(self, targets: Tensor, memory: EncoderMemory, table: Tensor) -> Scored:
        before = F.pad(targets[:, :-1], (1, 0), value=self.start)
        logits = self._run(before, memory.states, memory.mask, None, use_cache=False).logits
        likely = logits.float().log_softmax(-1)  # whatever the rest is computed in
        return Scored(likely.gather(-1, targets.unsqueeze(-1)).squeeze(-1), likely.mean(-1))

    def _run(
        self, tokens: Tensor, states: Tensor, mask: Tensor, cache: Any, *, use_cache: bool = True
    ) -> Any:
        return self.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=states),  # type: ignore[arg-type]
            attention_mask=mask,
            decoder_input_ids=tokens,
            past_key_values=cache,
            use_cache=use_cache,
            return_dict=True,
        )


class PretrainedTokenizer:
    """A model's own tokenizer, with the face that layouts expect."""

    def __init__(self, name: str | Path):
        try:
            self.backend = AutoTokenizer.from_pretrained(str(name))
        except (OSError, ValueError) as error:
            raise AllearsError(
                f"the tokenizer of {str(name)!r} cannot be loaded ({str(error).splitlines()[0]})"
            ) from error
        self.end: int = self.backend.eos_token_id
        self.pad: int = self.end if self.backend.pad_token_id is None else self.backend.pad_token_id
        start = self.backend.bos_token_id
        self.start: int = self.end if start is None else start

    @property
    def size(self) -> int:
        return len(self.backend)

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.backend.encode(text, add_special_tokens=False) for text in texts]

    def text(self, tokens: Sequence[int]) -> str:
        return str(self.backend.decode(list(tokens), skip_special_tokens=True)).strip()

    def save(self, folder: Path) -> None:
        self.backend.save_pretrained(folder)


def load_pretrained(name: str | Path) -> tuple[PretrainedEncoder, PretrainedDecoder]:
    """By hub name or path, with room for the strategies."""
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        whole = AutoModelForSeq2SeqLM.from_pretrained(str(name)).float()
    except (OSError, ValueError, json.JSONDecodeError) as error:
        raise AllearsError(
            f"the encoder-decoder {str(name)!r} cannot be loaded; give a hub name such as "
            f"facebook/blenderbot_small-90M or a folder ({str(error).splitlines()[0]})"
        ) from error
    whole.resize_token_embeddings(whole.config.vocab_size + len(STRATEGIES), mean_resizing=False)
    return PretrainedEncoder(whole), PretrainedDecoder(whole)


def from_config(config: dict[str, Any]) -> tuple[PretrainedEncoder, PretrainedDecoder]:
    """Of that shape, strategies included, with fresh weights: how a saved run rebuilds its model."""
    settings = {key: value for key, value in config.items() if key != "model_type"}
    whole = AutoModelForSeq2SeqLM.from_config(AutoConfig.for_model(config["model_type"], **settings))
    return PretrainedEncoder(whole), PretrainedDecoder(whole)
