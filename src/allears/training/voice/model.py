"""A language model with a low-rank adapter (LoRA, Hu et al. 2022) that can be put on its GGUF file again.

W x  becomes  W x + (alpha / rank) B A x        for every linear layer of the body; only A and B learn
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.models.generation.causal_model import with_adapters
from allears.models.language_models import load_language_model
from allears.nn.weights import write_text
from allears.runtime.adapter_gguf import read_adapter_gguf
from allears.runtime.gguf_card import ADAPTER_FILE, KIND
from allears.runtime.runs import MODEL_FILE, best, saved_card
from allears.runtime.voice_choice import BUNDLED, DEFAULT

WEIGHTS_FILE = "adapter.safetensors"


@dataclass(frozen=True, slots=True)
class VoiceCard:
    """What an adapter was trained on and how: enough to put it on its base again."""

    base: str
    rank: int
    alpha: int
    first_layer: int = 0
    kind: str = KIND


class VoiceModel(nn.Module):
    """`base` with adapters in it. Its state is the adapter alone: the base is never written."""

    def __init__(
        self,
        base: Any,
        *,
        rank: int,
        alpha: int,
        dropout: float,
        first_layer: int = 0,
        half: bool | None = None,
    ):
        """
        Args:
            first_layer: Blocks below it get no adapter, so nothing is computed backwards through them.
            half: Compute in bfloat16; left out, on a GPU alone. Processors with AVX-512 BF16 are about four times as
                fast in it, others slower.
        """
        super().__init__()
        self.in_half = torch.cuda.is_available() if half is None else half
        self.base: Any = with_adapters(
            base.to(torch.bfloat16 if self.in_half else torch.float32),
            rank=rank,
            alpha=alpha,
            dropout=dropout,
            first_layer=first_layer,
        )
        if self.in_half:  # autocast does it, without a detour of every input through float32
            for layer in self.base.modules():
                layer.cast_input_dtype_enabled = False

    def log_probabilities(self, ids: Tensor, learn: Tensor) -> tuple[Tensor, Tensor]:
        """log P of every token of ids [B, T] where `learn` [B, T] is set, given those before it; and each one's row.

        Rows are padded on the right, so that no mask is needed: nobody looks ahead. The vocabulary is large, so
        logits are computed at the wanted places alone.
        """
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self.in_half):
            body = self.base.get_base_model().base_model
            hidden = body(input_ids=ids, use_cache=False).last_hidden_state
            rows, places = learn[:, 1:].nonzero(as_tuple=True)
            logits = self.base.get_output_embeddings()(hidden[rows, places]).float()
        wanted = ids[rows, places + 1]
        return logits.log_softmax(-1).gather(1, wanted[:, None])[:, 0], rows

    def learned(self) -> dict[str, Tensor]:
        """The adapter, by the names of the base's layers: "model.layers.0.self_attn.q_proj.lora_A"."""
        return {
            plain_name(name): value for name, value in self.base.named_parameters() if value.requires_grad
        }

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]
        return {name: value.detach() for name, value in self.learned().items()}

    def load_state_dict(self, state_dict: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
        own = self.learned()
        if {name: value.shape for name, value in own.items()} != {
            name: value.shape for name, value in state_dict.items()
        }:
            raise AllearsError("the adapter belongs to another model, or has another rank")
        with torch.no_grad():
            for name, value in own.items():
                value.copy_(state_dict[name])


def plain_name(name: str) -> str:
    return name.removeprefix("base_model.model.").replace(".default.weight", "")


def build(base: str, **options: Any) -> VoiceModel:
    """A fresh adapter on a base model by name: a hub name, a folder or a .gguf file."""
    return VoiceModel(load_language_model(base), **options)


def save(folder: Path, model: VoiceModel, card: VoiceCard) -> None:
    """The adapter in float16 and its card; each file is whole or absent."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{WEIGHTS_FILE}.part"
    save_file({name: value.cpu().half().contiguous() for name, value in model.state_dict().items()}, part)
    part.rename(folder / WEIGHTS_FILE)
    write_text(folder / MODEL_FILE, json.dumps(asdict(card), indent=1) + "\n")


def read_card(folder: Path) -> VoiceCard:
    try:
        return VoiceCard(**saved_card(folder, KIND, "voice; train one with recipes/voice.toml"))
    except (ValueError, TypeError, AttributeError) as error:
        raise AllearsError(f"{folder / MODEL_FILE}: not the card of a voice ({error})") from error


def load_adapter(place: Path | str, model: VoiceModel) -> None:
    """Put an adapter into a model.

    Args:
        place: A run's folder (or its `best/`), or an adapter as it ships: a .gguf file, or `default`.
    """
    file = BUNDLED / ADAPTER_FILE if str(place) == DEFAULT else Path(place)
    if file.suffix == ".gguf":
        learned, _, _ = read_adapter_gguf(file)
        model.load_state_dict({name: torch.from_numpy(weights.copy()) for name, weights in learned.items()})
        return
    path = best(place) / WEIGHTS_FILE
    if not path.is_file():
        raise AllearsError(
            f"{path}: no such file; give the folder of a finished voice, or an adapter (.gguf)"
        )
    model.load_state_dict(load_file(path))
