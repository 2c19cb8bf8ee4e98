"""Language models for torch, by name: a hub name, a folder, a .gguf file, or `smollm2`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allears.errors import AllearsError
from allears.runtime.chat_layout import ChatFrames, frames_of
from allears.runtime.language_models import place_of


def load_language_model(name: str | Path) -> Any:
    """A decoder-only model in float32, for torch."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    folder, file = place_of(name)
    try:
        model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32)
    except (OSError, ValueError, ImportError) as error:
        raise _cannot(name, error) from error
    # What was read from GGUF is plain weights from here on.
    for gone, value in (("hf_quantizer", None), ("is_quantized", False)):
        setattr(model, gone, value)
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    return model


def load_chat_tokenizer(name: str | Path) -> PretrainedChat:
    from transformers import AutoTokenizer

    folder, file = place_of(name)
    try:
        return PretrainedChat(AutoTokenizer.from_pretrained(folder, gguf_file=file))
    except (OSError, ValueError, ImportError) as error:
        raise _cannot(name, error) from error


class PretrainedChat:
    """A pretrained tokenizer as a `ChatTokenizer`, and its template's frames."""

    def __init__(self, whole: Any):
        self.whole = whole
        self.marks = tuple(sorted({*whole.all_special_ids, *whole.added_tokens_decoder}))
        self.end = self._end()

    def _end(self) -> int:
        """What the template closes an answer with; where that is words, the tokenizer's own end of a text (which is not
        always right: some versions of transformers take another one from a GGUF file)."""
        closing = self.encode_many([self.frames.assistant_user])[0]
        if closing and closing[0] in self.marks:
            return closing[0]
        if self.whole.eos_token_id is None:
            raise AllearsError(
                "the language model's tokenizer has no end-of-text token, so no reply could end"
            )
        return int(self.whole.eos_token_id)

    @property
    def size(self) -> int:
        return len(self.whole)

    @property
    def frames(self) -> ChatFrames:
        if not getattr(self.whole, "chat_template", None):
            return ChatFrames()
        return frames_of(
            lambda talk: self.whole.apply_chat_template(
                list(talk), tokenize=False, add_generation_prompt=True
            )
        )

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        return [list(ids) for ids in self.whole(list(texts), add_special_tokens=False)["input_ids"]]

    def text(self, tokens: Sequence[int]) -> str:
        return " ".join(str(self.whole.decode(list(tokens), skip_special_tokens=True)).split())


def _cannot(name: str | Path, error: Exception) -> AllearsError:
    return AllearsError(
        f"the language model {str(name)!r} cannot be loaded; give a hub name such as "
        f"HuggingFaceTB/SmolLM2-135M-Instruct, a folder or a .gguf file ({str(error).splitlines()[0]})"
    )
