"""MISC: what may go on in a person, where it comes from, and what its mixture of strategies changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from generator_models import dataset_for, learn, small_generator, talks

from allears.conversation import Role, Turn
from allears.decoding import PAL_ALPHAS, Settings
from allears.errors import AllearsError
from allears.models.generation.mental_states import (
    MOST,
    CometSource,
    EmotionSource,
    LexiconSource,
    mental_source,
)
from allears.models.generation.torch_generator import prepared
from allears.nn.inputs import Inputs
from allears.runtime.generator import STRATEGIES, Prompt
from allears.training.generation.task import choice_loss

GREEDY = Settings(method="greedy")


def prompt(*said: str) -> Prompt:
    turns = []
    for text in said:
        turns += [Turn(Role.SEEKER, text), Turn(Role.SUPPORTER, "i am so sad and worried myself")]
    return Prompt(tuple(turns[:-1]), ("I have a cat.",))


def test_the_lexicon_infers_from_what_the_person_said_alone():
    found = LexiconSource()(
        [prompt("I was laid off."), prompt("my cat ran away, I cried"), prompt("xyz"), Prompt(())]
    )
    assert "I want to find work." in found[0]
    assert not any("anxious" in state for state in found[0])  # the supporter's worry is not theirs
    assert {"I feel sad.", "I love my animal."} <= set(found[1])
    assert found[2:] == [(), ()]


def test_what_was_said_last_comes_first_and_there_is_an_end_to_it():
    long = prompt(
        "I am sad, tired, lonely and broke, my boss yells, my wife left me and my dog is ill", "Thanks!"
    )
    found = LexiconSource()([long])[0]
    assert found[:2] == ("I feel heard.", "I am grateful.")
    assert len(found) == MOST


def test_cues_are_whole_words():
    assert LexiconSource()([prompt("the hospitable workshop in chile")]) == [()]


def test_a_readers_emotions_come_before_the_lexicons(monkeypatch):
    import numpy as np

    from allears.corpora.heads import head

    labels = head("ed-emotion-turns").labels

    class Reader:
        def probabilities(self, asked, readings):
            shares = np.zeros((len(readings), len(labels)), np.float32)
            shares[:, labels.index("lonely")], shares[:, labels.index("sad")] = 0.6, 0.3
            return shares

    monkeypatch.setattr("allears.models.reader.loading.load_reading_model", lambda *_: Reader())
    found = EmotionSource()([prompt("my dog is gone"), Prompt((Turn(Role.SUPPORTER, "hello"),))])
    assert found[0][:3] == ("I feel lonely.", "I feel sad.", "I love my animal.")
    assert found[1] == ()


def test_comet_is_any_encoder_decoder_by_name(tmp_path):
    save_comet(tmp_path / "comet")
    source = mental_source(f"comet:{tmp_path / 'comet'}")
    assert isinstance(source, CometSource)
    found = source([prompt("i lost my boat", "i am so sorry"), prompt("i lost my boat"), Prompt(())])
    assert all(state.endswith(".") for states in found for state in states)
    assert set(found[1]) <= set(source._known["i lost my boat"])
    assert found[2] == ()
    asked: list[str] = []
    source._answers = lambda questions: asked.extend(questions) or [""] * len(questions)  # type: ignore[method-assign]
    assert source([prompt("i lost my boat"), prompt("my cat")])[0] == found[1]
    assert {question.split(" x")[0] for question in asked} == {"my cat"}  # the other is known


def save_comet(folder):
    from generator_models import talk_tokenizer
    from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

    backend = talk_tokenizer(folder).backend
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="[PAD]", eos_token="[SEP]", bos_token="[CLS]", unk_token="[UNK]"
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=128,
        pad_token_id=0, bos_token_id=2, eos_token_id=3, decoder_start_token_id=3, forced_eos_token_id=3,
    )  # fmt: skip
    BartForConditionalGeneration(config).save_pretrained(folder)


@pytest.mark.parametrize("name", ["magic", "comet:"])
def test_an_unknown_source_is_one_sentence(name):
    with pytest.raises(
        AllearsError, match=r"there is no commonsense source .*; there are: lexicon, emotion, comet:NAME"
    ):
        mental_source(name)


def test_a_comet_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(
        AllearsError, match=r"COMET .*nowhere' cannot be loaded; .* or use source = 'lexicon'"
    ):
        mental_source(f"comet:{tmp_path / 'nowhere'}")([prompt("hello")])


def test_what_is_read_is_what_may_go_on_in_the_person_and_not_their_persona(tmp_path):
    generator = small_generator(tmp_path, "misc")
    talk = talks(1)[0].prompt
    same = replace(talk, persona=("i sold my house in cairo.",))
    first, second = generator.log_likelihood([talk, same], ["so sorry."] * 2)
    assert first.log_probability == second.log_probability
    generator.module.source = lambda prompts: [("i am sad.",)] * len(prompts)
    third = generator.log_likelihood([talk], ["so sorry."])[0]
    assert third.log_probability != pytest.approx(first.log_probability, abs=1e-4)


def test_mental_states_are_attended_as_the_paper_says(tmp_path):
    generator = small_generator(tmp_path, "misc")
    model = generator.module.eval()
    batch = dataset_for(generator, talks(2)).batch([0, 1])
    with torch.inference_mode():
        memory, choice = model.read_choosing(batch.context, batch.persona)
        dialogue = model.encoder(batch.context)
        mixture = model.choice(dialogue[:, 0]).softmax(-1) @ model.codebook.weight
        width = batch.context.ids.shape[1]
        torch.testing.assert_close(memory.states[:, :width], dialogue + mixture[:, None])
        row, real = 0, batch.persona.mask[0].bool()
        own = model.encoder(batch.persona)[row][real]
        said = dialogue[row][batch.context.mask[row].bool()]
        hat = model.mental_norm(own + (own @ said.T).softmax(-1) @ said) + mixture[row]
        torch.testing.assert_close(memory.states[row, width + 1 :][real], hat, atol=1e-4, rtol=1e-4)
        assert choice.shape == (2, len(STRATEGIES))
        assert memory.mask[:, width].tolist() == [0, 0]


def test_without_mental_states_only_the_dialogue_is_read(tmp_path):
    model = small_generator(tmp_path, "misc").module.eval()
    context = Inputs(
        torch.tensor([[2, 5, 6, 3]]), torch.ones(1, 4, dtype=torch.long), torch.zeros(1, 4, dtype=torch.long)
    )
    nobody = Inputs(torch.zeros(1, 3, dtype=torch.long), *(torch.zeros(1, 3, dtype=torch.long),) * 2)
    with torch.inference_mode():
        bare, empty = model.read(context), model.read(context, nobody)
        torch.testing.assert_close(empty.states[:, :4], bare.states)
        assert empty.mask.sum() == bare.mask.sum() == 4


def test_the_mixture_learns_what_people_chose():
    logits = torch.zeros(3, 8, requires_grad=True)
    loss = choice_loss(logits, torch.tensor([2, -40, 5]))  # the second has no strategy
    assert loss.item() == pytest.approx(torch.log(torch.tensor(8.0)).item())
    loss.backward()
    assert logits.grad is not None
    assert logits.grad[1].abs().sum() == 0
    assert logits.grad[0].argmin() == 2
    assert choice_loss(logits, torch.tensor([-1, -9, -3])).item() == 0.0


def test_what_was_learned_by_heart_is_written(tmp_path):
    examples = talks(8)
    generator = small_generator(tmp_path, "misc")
    learn(generator, prepared(generator.module, examples))
    free = [replace(example.prompt, strategy=None) for example in examples]
    found = generator.generate(free, GREEDY)
    assert [each[0].text.lower() for each in found] == [example.response.lower() for example in examples]
    with pytest.raises(AllearsError, match="a misc generator has no branch without persona"):
        generator.generate(free, GREEDY, alphas=PAL_ALPHAS)
