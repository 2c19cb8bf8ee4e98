"""Encoders by name: from a hub, a folder, or the bundle that ships."""

from __future__ import annotations

import json
from pathlib import Path

from transformers import AutoModel
from transformers.utils import logging

from allears.errors import AllearsError
from allears.nn.bundle_encoder import bundle_encoder
from allears.nn.encoder import Encoder
from allears.runtime.bundle import bundle_folder


def load_encoder(name: str | Path) -> Encoder:
    """Weights by hub name or path (`thenlper/gte-small`, `runs/pretrain`), or those of a bundle (`default`)."""
    bundle = bundle_folder(name)
    if bundle is not None:
        return bundle_encoder(bundle)
    logging.disable_progress_bar()  # a bar and a report about the pooling layer we leave out: noise
    logging.set_verbosity_error()
    try:
        model = AutoModel.from_pretrained(str(name), add_pooling_layer=False)
    except TypeError:  # families without a pooling layer do not know the argument
        model = AutoModel.from_pretrained(str(name))
    except (OSError, ValueError, json.JSONDecodeError) as error:
        raise AllearsError(
            f"the encoder {str(name)!r} cannot be loaded; give a hub name such as thenlper/gte-small "
            f"or the folder of a saved encoder ({str(error).splitlines()[0]})"
        ) from error
    return Encoder(model.float())
