"""Any chat model of a hub or a folder as a generator, in torch, through its own chat template; nothing is learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch

from allears.decoding import Settings
from allears.errors import AllearsError
from allears.models.language_models import load_language_model
from allears.runtime.generating import SeededGenerator, WritingRequest
from allears.runtime.generator import Generated, Likelihood, Prompt
from allears.runtime.language_models import place_of
from allears.runtime.remote import messages, without_tag

STRATEGY_TOKENS = 16  # a reply's strategy in brackets; beside `longest`


def open_hub_voice(name: str, device: str | None = None) -> HubVoice:
    """A model by its hub name or folder; on a GPU where there is one."""
    return HubVoice(name, device or ("cuda" if torch.cuda.is_available() else "cpu"))


class HubVoice(SeededGenerator):
    """What `settings` ask for that is no sampling (blocked n-grams, a consensus) is left out, and beams are greedy."""

    default_settings: ClassVar[Settings] = Settings(
        temperature=0.7, top_p=0.9, repetition_penalty=1.03, longest=64
    )

    def __init__(self, name: str, device: str = "cpu"):
        from transformers import AutoTokenizer

        self.name, self.device = name, device
        self.own_settings = self.default_settings
        self.model: Any = load_language_model(name).eval().to(device)
        folder, file = place_of(name)
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, gguf_file=file)
        if not getattr(self.tokenizer, "chat_template", None):
            raise AllearsError(
                f"the language model {name} has no chat template, so it cannot be talked to; give one that ends with "
                "-Instruct or -chat"
            )

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> list[Likelihood]:
        return [self._likelihood(*pair) for pair in zip(prompts, responses, strict=True)]

    @torch.inference_mode()
    def _likelihood(self, prompt: Prompt, response: str) -> Likelihood:
        before = self._ids(prompt)
        said = self.tokenizer(response, add_special_tokens=False)["input_ids"] + [self.tokenizer.eos_token_id]
        ids = torch.cat([before, torch.tensor([said], device=self.device)], 1)
        scores = self.model(input_ids=ids).logits[0, -len(said) - 1 : -1].float().log_softmax(-1)
        told = scores.gather(1, torch.tensor(said, device=self.device)[:, None])
        return Likelihood(float(told.sum()), len(said))

    def _write(self, request: WritingRequest) -> list[list[Generated]]:
        self._check_alphas(request.alphas, "hub")
        if request.count > 1 and request.settings.method != "sample":
            raise AllearsError(
                f"a hub model has only one {request.settings.method} answer; for {request.count} of them use sample"
            )
        return [
            [self._one(prompt, request.settings, seed + number) for number in range(request.count)]
            for prompt, seed in zip(request.prompts, request.seeds, strict=True)
        ]

    @torch.inference_mode()
    def _one(self, prompt: Prompt, settings: Settings, seed: int) -> Generated:
        before = self._ids(prompt)
        with torch.random.fork_rng():
            torch.manual_seed(seed % 2**63)
            written = self.model.generate(
                input_ids=before,
                attention_mask=torch.ones_like(before),
                max_new_tokens=settings.longest + STRATEGY_TOKENS,
                min_new_tokens=settings.shortest,
                repetition_penalty=settings.repetition_penalty,
                pad_token_id=self.tokenizer.eos_token_id,
                return_dict_in_generate=True,
                output_logits=True,
                **_sampling(settings),
            )
        new = written.sequences[0, before.shape[1] :]
        scores = torch.stack([each[0].float().log_softmax(-1) for each in written.logits])
        told = scores.gather(1, new[:, None]).sum()
        text, named = without_tag(self.tokenizer.decode(new, skip_special_tokens=True))
        cut = len(new) == settings.longest + STRATEGY_TOKENS
        return Generated(text, prompt.strategy or named, float(told), cut)

    def _ids(self, prompt: Prompt) -> torch.Tensor:
        chat = messages(prompt)
        try:
            text = self._laid_out(chat)
        except Exception as error:  # of the template's own making: some take no system message
            first, second, *rest = chat
            joined = {"role": "user", "content": f"{first['content']}\n\n{second['content']}"}
            try:
                text = self._laid_out([joined, *rest])
            except Exception:
                raise AllearsError(
                    f"the chat template of {self.name} takes no conversation ({error})"
                ) from error
        found = self.tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
        return found.to(self.device)

    def _laid_out(self, chat: list[dict[str, str]]) -> str:
        return str(
            self.tokenizer.apply_chat_template(
                chat, tokenize=False, add_generation_prompt=True, enable_thinking=False
            )
        )


def _sampling(settings: Settings) -> dict[str, Any]:
    if settings.method != "sample":
        return {"do_sample": False, "temperature": None, "top_k": None, "top_p": None}
    return {
        "do_sample": True,
        "temperature": settings.temperature,
        "top_k": settings.top_k or 0,
        "top_p": 1.0 if settings.top_p is None else settings.top_p,
    }
