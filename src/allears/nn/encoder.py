"""A pretrained BERT-family encoder by name or path, as one small module: tokens in, token states out."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer

from allears.errors import AllearsError
from allears.nn.inputs import Inputs
from allears.runtime.bundle import bundle_folder
from allears.text.tokenizer import WordPiece


class Encoder(nn.Module):
    """`states = encoder(inputs)`: [..., L] ids to [..., L, d] last-layer states; leading dims are free."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model
        settings: Any = model.config
        self.settings = settings  # the library's own configuration object
        self.size: int = settings.hidden_size
        self.depth: int = settings.num_hidden_layers
        self.segments_known: bool = getattr(settings, "type_vocab_size", 0) > 1

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Encoder:
        """An encoder of that shape with fresh weights: how a saved run rebuilds its model."""
        kind = config["model_type"]
        settings = {key: value for key, value in config.items() if key != "model_type"}
        shape = AutoConfig.for_model(kind, **settings)
        try:
            model = AutoModel.from_config(shape, add_pooling_layer=False)
        except TypeError:  # families without a pooling layer do not know the argument
            model = AutoModel.from_config(shape)
        return cls(model)

    def first_layers(self, count: int) -> Encoder:
        """A copy with only its first `count` layers: what needs little understanding needs no more, and less time."""
        layers = getattr(getattr(self.model, "encoder", None), "layer", None)
        if not isinstance(layers, nn.ModuleList):
            raise AllearsError(
                f"the layers of a {self.settings.model_type} cannot be left out; use all of them"
            )
        if not 1 <= count <= self.depth:
            raise AllearsError(
                f"this encoder has {self.depth} layers, of which the first {count} were asked for"
            )
        shorter: Any = deepcopy(self.model)
        shorter.encoder.layer = shorter.encoder.layer[:count]
        shorter.config.num_hidden_layers = count
        return Encoder(shorter)

    @property
    def config(self) -> dict[str, Any]:
        return {**self.settings.to_diff_dict(), "model_type": self.settings.model_type}

    def forward(self, inputs: Inputs, *, all_layers: bool = False) -> Tensor:
        """Last-layer states [..., L, d]; with `all_layers`, every layer's: [..., layers + 1, L, d]."""
        leading, length = inputs.ids.shape[:-1], inputs.ids.shape[-1]
        flat = {
            "input_ids": inputs.ids.reshape(-1, length),
            "attention_mask": inputs.mask.reshape(-1, length),
        }
        if self.segments_known:
            flat["token_type_ids"] = inputs.segments.reshape(-1, length)
        output = self.model(**flat, output_hidden_states=all_layers)
        if all_layers:
            import torch

            states = torch.stack(output.hidden_states, 1)  # [N, layers + 1, L, d]
        else:
            states = output.last_hidden_state
        return states.reshape(*leading, *states.shape[1:])


def own_encoders(encoder: Encoder, *, separate: bool) -> tuple[Encoder | None, Encoder | None]:
    """Encoders for persona and response that start as the given one and learn apart; None when they share it."""
    return (deepcopy(encoder), deepcopy(encoder)) if separate else (None, None)


def encoder_tokenizer(name: str | Path) -> WordPiece:
    """The tokenizer that belongs to an encoder, by hub name or path, or that of a bundle."""
    name = bundle_folder(name) or name
    if (Path(name) / "tokenizer.json").is_file():
        return WordPiece(name)
    from tempfile import TemporaryDirectory

    try:
        tokenizer = AutoTokenizer.from_pretrained(str(name), use_fast=True)
    except (OSError, ValueError) as error:
        raise AllearsError(
            f"the tokenizer of {str(name)!r} cannot be loaded ({str(error).splitlines()[0]})"
        ) from error
    with TemporaryDirectory() as folder:
        tokenizer.backend_tokenizer.save(f"{folder}/tokenizer.json")
        return WordPiece(folder)


def encoder_of(run: Any, name: str) -> tuple[Encoder, WordPiece]:
    """The encoder inside an opened run, with its tokenizer; `name` is what the recipe's model.start calls the run."""
    encoder = getattr(run.model, "encoder", None)
    if not isinstance(encoder, Encoder) or not isinstance(run.tokenizer, WordPiece):
        raise AllearsError(f"recipe: model.start {name!r} has no encoder to go on from")
    return encoder, run.tokenizer
