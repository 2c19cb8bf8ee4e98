"""A small made-up language model of Llama's kind, with a chat template, and adapters on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from generator_models import THINGS, talks
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from allears.models.generation import causal_model
from allears.models.generation.causal_dataset import CausalDataset
from allears.models.generation.causal_model import LoadedCausal, TorchRuntime
from allears.models.generation.examples import GenerationExample
from allears.runtime.causal import CausalGenerator
from allears.text.layout import Limits

TEMPLATE = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
LIMITS = Limits(
    context_tokens=220,
    first_turn_tokens=40,
    turn_tokens=40,
    response_tokens=40,
    persona_sentences=4,
    persona_sentence_tokens=16,
)


def save_language_model(folder: Path, template: str | None = TEMPLATE) -> Path:
    """As `from_pretrained` finds one: two layers, and a byte-level vocabulary learned from made-up talk."""
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    said = [text for example in talks(16) for text in (example.response, *example.prompt.persona)]
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=marks,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(said, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token="<|im_end|>", pad_token="<|im_end|>", bos_token="<|im_start|>"
    )
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer) + 5,  # more rows than words, as many models have
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.1,
        tie_word_embeddings=True,
        eos_token_id=2,
        bos_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def fresh_adapter(base: Path, *, seed: int = 0, limits: Limits = LIMITS, turns: int = 4) -> LoadedCausal:
    """On a base, with adapters that do something already."""
    torch.manual_seed(seed)
    found = causal_model.build(
        str(base), limits, context_turns=turns, strategy_first=True, rank=8, alpha=16, dropout=0.0
    )
    with torch.no_grad():
        for value in found.model.learned().values():
            value.add_(0.05 * torch.randn_like(value))
    return found


def torch_generator(found: LoadedCausal) -> CausalGenerator:
    return CausalGenerator(TorchRuntime(found.model), found.card, found.layout)


def learn_by_heart(found: LoadedCausal, examples: Sequence[GenerationExample], steps: int = 150) -> None:
    model = found.model.train()
    optimizer = torch.optim.AdamW(list(model.learned().values()), lr=1e-2)
    batch = CausalDataset(examples, found.layout).batch(list(range(len(examples))))
    for _ in range(steps):
        logits = model.likelihood(batch.ids, batch.rows, batch.places)
        loss = torch.nn.functional.cross_entropy(logits, batch.targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()


__all__ = ["LIMITS", "THINGS", "fresh_adapter", "learn_by_heart", "save_language_model", "torch_generator"]
