"""Outputs are frozen and hashed before a study begins, and it does not start when they changed."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from study_making import CHAT, LIKERT, PREFERENCE, frozen_study, item, open_store, write_study

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.labels import ED_EMOTIONS as EMOTIONS
from allears.study import systems as system_files
from allears.study.design import SystemSpec
from allears.study.design_file import read_design
from allears.study.frozen import freeze, load_frozen, said_alike
from allears.study.items import read_items
from allears.study.systems import can_be_frozen, fingerprint, open_talker, open_talkers, outputs_of
from allears.study.units import build_units


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = write_study(tmp_path / "eggs", LIKERT, systems=["one", "three"])
    frozen_study(made)
    return made


def test_what_was_frozen_is_read_again(folder: Path):
    frozen = load_frozen(read_design(folder), folder)
    assert list(frozen.items) == ["item-0", "item-1", "item-2", "item-3"]
    assert frozen.outputs["one"]["item-2"] == "That is 3 times good news."
    assert len(frozen.digest) == 64


@pytest.mark.parametrize("file", ["frozen/outputs.jsonl", "frozen/items.jsonl"])
def test_a_frozen_file_that_changed_is_refused(folder: Path, file: str):
    changed(folder / file, "item-2", "item-9")
    with pytest.raises(AllearsError, match="changed since the study was frozen"):
        load_frozen(read_design(folder), folder)


def test_a_systems_outputs_that_changed_are_refused(folder: Path):
    changed(folder / "three.jsonl", "good", "bad")
    with pytest.raises(AllearsError, match="the system 'three' changed since the study was frozen"):
        load_frozen(read_design(folder), folder)


def test_questions_that_changed_are_refused_and_texts_may_be_mended(folder: Path):
    changed(folder / "study.toml", "Do you want to?", "Would you like to take part?")
    load_frozen(read_design(folder), folder)
    changed(folder / "study.toml", "Does it understand?", "Is it kind?")
    with pytest.raises(AllearsError, match="what people see changed"):
        load_frozen(read_design(folder), folder)


def test_a_study_that_began_is_not_frozen_again_with_something_else(folder: Path, sqlite_url: str):
    open_store(sqlite_url, folder).close()
    changed(folder / "three.jsonl", "good", "bad")
    with pytest.raises(AllearsError, match="began with other items, outputs or questions"):
        open_store(sqlite_url, folder)  # freezes again


def test_an_unfrozen_study_says_what_to_run(tmp_path: Path):
    made = write_study(tmp_path / "eggs", LIKERT, systems=["one"])
    with pytest.raises(AllearsError, match="allears study freeze"):
        load_frozen(read_design(made), made)


def test_a_system_without_an_output_is_named_with_the_item(tmp_path: Path):
    made = write_study(tmp_path / "eggs", LIKERT, systems=["one"])
    changed(made / "one.jsonl", "item-2", "item-9")
    with pytest.raises(AllearsError, match="the system 'one' has no output for the item 'item-2'"):
        freeze(read_design(made), made)


def test_a_bad_line_of_outputs_is_named(tmp_path: Path):
    made = write_study(tmp_path / "eggs", LIKERT, systems=["one"])
    with (made / "one.jsonl").open("a") as file:
        file.write('{"item": 3}\n')
    with pytest.raises(AllearsError, match=r"one.jsonl, line 5: expected"):
        freeze(read_design(made), made)


def test_the_last_reply_becomes_the_gold_response(tmp_path: Path):
    talk = {
        **item(0),
        "turns": [{"speaker": "seeker", "text": "Look!"}, {"speaker": "supporter", "text": "Wow."}],
    }
    gold = '\n[[systems]]\nname = "gold"\ngold = true\n'
    made = write_study(tmp_path / "eggs", LIKERT, items=[talk], systems=["one"], more=gold)
    changed(made / "study.toml", "[items]", "[items]\nlast_reply = true")
    _, frozen = frozen_study(made)
    assert frozen.outputs["gold"] == {"item-0": "Wow."}
    assert len(frozen.items["item-0"].talk.turns) == 1


def test_so_many_items_of_each_emotion_are_sampled_with_the_seed(tmp_path: Path):
    rows = [item(number, emotion=EMOTIONS[number % 32]) for number in range(320)]
    made = write_study(tmp_path / "eggs", LIKERT, items=rows, systems=["one"])
    changed(made / "study.toml", "[items]", "[items]\nper_emotion = 4")
    design = read_design(made)
    found = read_items(design, made)
    assert len(found) == 128  # MIME: four instances of each of the 32 emotions
    assert {sum(each.talk.emotion == emotion for each in found) for emotion in EMOTIONS} == {4}
    assert [each.id for each in found] == [each.id for each in read_items(design, made)]
    changed(made / "study.toml", "seed = 7", "seed = 8")
    assert [each.id for each in found] != [each.id for each in read_items(read_design(made), made)]


def test_an_item_without_what_a_block_shows_is_named(tmp_path: Path):
    rows = [item(0), {key: value for key, value in item(1).items() if key != "situation"}]
    endpoint = '\n[[systems]]\nname = "x"\nendpoint = "http://a/v1"\nmodel = "m"\n'
    made = write_study(tmp_path / "eggs", CHAT, items=rows, more=endpoint)
    with pytest.raises(AllearsError, match="'item-1' has no situation"):
        read_items(read_design(made), made)


def test_every_item_meets_every_system_or_every_pair(tmp_path: Path):
    design, frozen = frozen_study(write_study(tmp_path / "a", LIKERT, systems=["one", "three", "eleven"]))
    assert len(build_units(design, frozen)) == 4 * 3
    design, frozen = frozen_study(write_study(tmp_path / "b", PREFERENCE, systems=["one", "three", "eleven"]))
    assert {unit.systems for unit in build_units(design, frozen)} == {
        ("one", "three"),
        ("one", "eleven"),
        ("three", "eleven"),
    }


def test_a_run_folder_is_known_by_all_its_files(tmp_path: Path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "weights").write_bytes(b"1")
    spec = SystemSpec("x", run="run")
    before = fingerprint(spec, tmp_path)
    assert fingerprint(spec, tmp_path) == before
    (run / "weights").write_bytes(b"2")
    assert fingerprint(spec, tmp_path) != before
    with pytest.raises(AllearsError, match="names the folder gone, which is not there"):
        fingerprint(SystemSpec("x", run="gone"), tmp_path)


def test_systems_behind_an_address_are_said_not_to_be_fixed(tmp_path: Path):
    endpoint = '\n[[systems]]\nname = "{0}"\nendpoint = "http://localhost:9/v1"\nmodel = "{0}"\n'
    made = write_study(tmp_path / "eggs", CHAT, more=endpoint.format("x") + endpoint.format("y"))
    _, frozen = frozen_study(made)
    assert frozen.not_fixed == ("x", "y")


def test_a_generator_a_selector_and_a_listener_are_asked_for_each_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    class Counting:
        def reply(self, turns, persona=(), *, seed=0):
            return f"{len(turns)} lines, seed {seed}"

    opened: list[SystemSpec] = []

    def opening(spec: SystemSpec, folder: Path) -> Counting:
        opened.append(spec)
        return Counting()

    monkeypatch.setattr(system_files, "open_talker", opening)
    made = write_study(tmp_path / "eggs", LIKERT, systems=["one"])
    items = read_items(read_design(made), made)
    for spec in (SystemSpec("r", run="r"), SystemSpec("b", bundle="b"), SystemSpec("v", voice="v")):
        assert outputs_of(spec, items, made, seed=5)["item-0"] == "1 lines, seed 5"
    assert [spec.name for spec in opened] == ["r", "b", "v"]


def test_the_shipped_bundle_chooses_among_candidates(tmp_path: Path):
    lines = ["What wonderful news about your new job!", "I am sorry that your dog died."]
    (tmp_path / "candidates.txt").write_text("\n".join(lines))
    talker = open_talker(SystemSpec("x", bundle="default", candidates="candidates.txt"), tmp_path)
    said = talker.reply([Turn(Role.SEEKER, "My dog died last night and I cannot stop crying.")])
    assert said == lines[1]


def test_a_generators_run_writes_a_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from allears.models.generation import loading
    from allears.runtime.generator import Generated

    class Writes:
        def generate(self, prompts, settings, seeds, **_):
            return [[Generated(f"I hear {len(prompt.turns)} lines.", "", 0.0)] for prompt in prompts]

    monkeypatch.setattr(loading, "load_generator", lambda path: Writes())
    talker = open_talker(SystemSpec("x", run="anything"), tmp_path)
    assert talker.reply([Turn(Role.SEEKER, "Hello.")]) == "I hear 1 lines."


def test_the_frozen_card_says_when_and_what(folder: Path):
    card = json.loads((folder / "frozen" / "frozen.json").read_text())
    assert set(card["systems"]) == {"one", "three"}
    assert set(card["files"]) == {"items.jsonl", "outputs.jsonl"}


def test_systems_that_say_the_same_are_told(tmp_path: Path):
    design, frozen = frozen_study(write_study(tmp_path / "a", PREFERENCE, systems=["one", "two", "three"]))
    assert said_alike(design, frozen) == {("one", "two"): 4}


class Listening:
    """A listener that says whose voice it has."""

    selector = None

    def __init__(self, voice: str) -> None:
        self.voice = voice

    def with_voice(self, voice: Any) -> Listening:
        return Listening(voice.name)

    def respond(self, message: str, conversation: Any, *, seed: int = 0) -> SimpleNamespace:
        return SimpleNamespace(text=f"{self.voice}: {len(conversation.turns)} lines before {message!r}")


def test_voices_of_one_bundle_share_their_listener_and_answer_for_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from allears.listener import voices
    from allears.listener.listener import Listener

    opened: list[str] = []

    def open_listener(bundle: str, *, voice: str) -> Listening:
        opened.append(voice)
        return Listening(voice)

    monkeypatch.setattr(Listener, "from_bundle", open_listener)
    monkeypatch.setattr(voices, "open_voice", voices.Voice)
    found = open_talkers([SystemSpec("a", voice="chosen"), SystemSpec("b", bundle="default")], tmp_path)
    assert opened == ["chosen"]
    said = [Turn(Role.SEEKER, "Hi."), Turn(Role.SUPPORTER, "Hello."), Turn(Role.SEEKER, "I passed!")]
    assert found["a"].reply(said) == "chosen: 2 lines before 'I passed!'"
    assert found["b"].reply(said) == "default: 2 lines before 'I passed!'"
    with pytest.raises(AllearsError, match="the last line of an item is the supporter's"):
        found["b"].reply(said[:2])


def test_an_address_that_is_none_is_told(tmp_path: Path):
    with pytest.raises(AllearsError, match="expected an address such as"):
        open_talker(SystemSpec("x", endpoint="localhost", model="m"), tmp_path)


def test_a_default_voice_whose_weights_arrive_is_another_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from allears.listener import voices

    spec = SystemSpec("a", voice="default")
    monkeypatch.setattr(voices, "missing", lambda name: "its weights are not here")
    without = fingerprint(spec, tmp_path)
    assert without == fingerprint(SystemSpec("b", voice="chosen"), tmp_path)  # what answers then
    monkeypatch.setattr(voices, "missing", lambda name: "")
    assert fingerprint(spec, tmp_path) != without


def test_a_model_file_is_part_of_the_fingerprint_and_one_that_is_gone_is_told(tmp_path: Path):
    spec = SystemSpec("a", voice="mine.gguf")
    with pytest.raises(AllearsError, match=r"names the file mine\.gguf, which is not there"):
        fingerprint(spec, tmp_path)
    (tmp_path / "mine.gguf").write_bytes(b"one")
    one = fingerprint(spec, tmp_path)
    (tmp_path / "mine.gguf").write_bytes(b"another")
    assert fingerprint(spec, tmp_path) != one


@pytest.mark.parametrize(
    "voice", ["remote", "ollama:llama3.2", "openai:http://localhost:9/v1#m", "hf:some/model"]
)
def test_voices_that_may_change_unseen_cannot_be_frozen(voice: str):
    assert not can_be_frozen(SystemSpec("a", voice=voice))
    assert can_be_frozen(SystemSpec("a", voice="chosen"))
