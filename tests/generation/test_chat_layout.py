"""Prompts as chats: what stands where, and what goes when there is no room."""

from __future__ import annotations

from dataclasses import replace

import pytest
from causal_models import LIMITS, save_language_model
from generator_models import talks

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.models.language_models import load_chat_tokenizer
from allears.runtime.chat_layout import SILENCE, SYSTEM, ChatFrames, ChatLayout, frames_of
from allears.runtime.generator import STRATEGIES, Prompt

WORDS = 420
CHATML = ChatFrames(
    "<|im_start|>system\n",
    "<|im_end|>\n<|im_start|>user\n",
    "<|im_end|>\n<|im_start|>assistant\n",
    "<|im_end|>\n<|im_start|>user\n",
    "<|im_end|>\n<|im_start|>assistant\n",
)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return load_chat_tokenizer(save_language_model(tmp_path_factory.mktemp("language-model")))


@pytest.fixture
def layout(tokenizer) -> ChatLayout:
    return ChatLayout(tokenizer, tokenizer.frames, LIMITS, 6, WORDS)


def shown(layout: ChatLayout, ids: list[int]) -> str:
    """Words as they are, strategies in braces."""
    found, run = "", []
    for token in ids:
        if token >= layout.first_strategy:
            found += layout.tokenizer.whole.decode(run) + f"{{{STRATEGIES[token - layout.first_strategy]}}}"
            run = []
        else:
            run.append(token)
    return found + layout.tokenizer.whole.decode(run)


def test_a_chat_template_is_taken_apart(tokenizer):
    assert tokenizer.frames == CHATML
    assert tokenizer.end == 2  # what closes an answer


def test_a_template_without_system_messages_gets_its_text_before_the_first_words():
    def strict(talk):
        if talk[0]["role"] == "system":
            raise ValueError("System role not supported")
        return "".join(f"<{each['role']}>{each['content']}</>" for each in talk) + "<model>"

    assert frames_of(strict) == ChatFrames("<user>", "\n\n", "</><assistant>", "</><user>", "</><model>")


def test_a_template_that_loses_messages_is_one_sentence():
    with pytest.raises(AllearsError, match="chat template cannot be taken apart"):
        frames_of(lambda talk: "always the same")


def test_models_without_a_template_have_plain_names(tmp_path):
    tokenizer = load_chat_tokenizer(save_language_model(tmp_path, template=None))
    assert tokenizer.frames == ChatFrames()
    assert tokenizer.end == tokenizer.whole.eos_token_id


def test_the_whole_prompt_reads_like_the_models_own_template(layout):
    prompt = replace(talks(1)[0].prompt, strategy=None)
    row = layout.rows([prompt])[0]
    last = (
        f"{prompt.turns[2].text}\n\n[3 turns: question]\n\n"
        f"[About me: {prompt.persona[0]} {prompt.persona[1]} ]"
    )
    talk = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": prompt.turns[0].text},
        {"role": "assistant", "content": "{Question}" + prompt.turns[1].text},
        {"role": "user", "content": last},
    ]
    expected = layout.tokenizer.whole.apply_chat_template(talk, tokenize=False, add_generation_prompt=True)
    assert shown(layout, row.whole) == expected
    assert shown(layout, row.without) == expected.replace(last[last.index("\n\n[About") :], "")


def test_turns_of_one_person_are_one_message_and_a_chat_begins_and_goes_on_with_the_user(layout):
    turns = (
        Turn(Role.SUPPORTER, "hello", strategy="Others"),
        Turn(Role.SUPPORTER, "tell me", strategy="Question"),
        Turn(Role.SEEKER, "i lost it"),
        Turn(Role.SEEKER, "my boat"),
        Turn(Role.SUPPORTER, "so sorry"),
    )
    text = shown(layout, layout.rows([Prompt(turns)])[0].whole)
    assert (
        f"user\n{SILENCE}<|im_end|>\n<|im_start|>assistant\n{{Others}}hello\n{{Question}}tell me<|im_end|>"
        in text
    )
    assert "user\ni lost it\nmy boat<|im_end|>" in text
    assert f"assistant\nso sorry<|im_end|>\n<|im_start|>user\n{SILENCE}\n\n[5 turns:" in text


def test_nothing_said_is_silence(layout):
    row = layout.rows([Prompt(())])[0]
    assert f"user\n{SILENCE}\n\n[0 turns:]<|im_end|>\n<|im_start|>assistant\n" in shown(layout, row.whole)
    assert row.persona == []


def test_the_oldest_turns_go_first_and_everything_fits(layout):
    turns = tuple(
        Turn(Role.SEEKER if number % 2 else Role.SUPPORTER, f"i lost my cat {number} in oslo " * 5)
        for number in range(9)
    )
    prompt = Prompt((*turns, Turn(Role.SEEKER, "what now?")), ("i have a cat. " * 30,) * 50)
    row = layout.rows([prompt])[0]
    text = shown(layout, row.whole)
    assert "what now?" in text
    assert "cat 0 in" not in text
    assert "[10 turns:" in text  # what is not shown is counted
    assert len(row.without) <= LIMITS.context_tokens + 10  # the first user's frame and silence
    assert len(row.persona) <= LIMITS.persona_sentences * LIMITS.persona_sentence_tokens + 16


def test_a_lone_turn_that_is_too_long_keeps_its_end(tokenizer):
    limits = replace(LIMITS, context_tokens=160, first_turn_tokens=2000)
    layout = ChatLayout(tokenizer, tokenizer.frames, limits, 6, WORDS)
    text = shown(
        layout, layout.rows([Prompt((Turn(Role.SEEKER, "i lost my cat " * 90 + "and my boat"),))])[0].whole
    )
    assert "and my boat" in text
    assert text.count("i lost my cat") < 40


def test_of_a_long_persona_the_latest_is_read(layout):
    prompt = Prompt((Turn(Role.SEEKER, "hello"),), (*["i am from oslo."] * 50, *["i love my cat."] * 4))
    text = shown(layout, layout.rows([prompt])[0].persona)
    assert text.count("i love my cat.") == 4
    assert "oslo" not in text


def test_targets_are_strategy_words_and_end(layout):
    prompts = [Prompt((), strategy="Information"), Prompt(())]
    first, second = layout.targets(prompts, ["so sorry.", "so sorry. " * 40])
    assert first[0] == layout.strategy_tokens["Information"]
    assert first[-1] == layout.tokenizer.end
    assert layout.tokenizer.text(first[1:-1]) == "so sorry."
    assert len(second) == LIMITS.response_tokens
    assert second[-1] != layout.tokenizer.end  # cut: nothing shall learn to stop there


def test_marks_and_rows_without_a_word_are_not_written(layout):
    assert layout.unwritable == [0, 1, *range(layout.tokenizer.size, WORDS)]
