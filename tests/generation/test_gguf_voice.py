"""A GGUF file as a generator, by the real llama.cpp on a tiny made-up model."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from allears.conversation import Role, Turn
from allears.decoding import PAL_ALPHAS, Settings
from allears.errors import AllearsError
from allears.runtime import gguf_engine
from allears.runtime.generator import Prompt
from allears.runtime.gguf_card import ADAPTER_FILE, GgufVoiceCard, card_of
from allears.runtime.gguf_engine import GgufEngine
from allears.runtime.gguf_voice import GgufOptions, GgufVoice
from tiny_gguf import TinyModel, tiny_model

SAID = Prompt((Turn(Role.SEEKER, "my dog ate the sandwich"),))
GREEDY = Settings(method="greedy", longest=12)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TinyModel:
    return tiny_model(tmp_path_factory.mktemp("gguf"))


@pytest.fixture(scope="module")
def voice(tiny: TinyModel) -> Iterator[GgufVoice]:
    found = GgufVoice(GgufOptions(tiny.file, threads=1))
    yield found
    found.close()


@pytest.fixture(scope="module")
def exact(tiny: TinyModel) -> Iterator[GgufVoice]:
    found = GgufVoice(GgufOptions(tiny.file, threads=1, reproducible=True))
    yield found
    found.close()


def talk(turns: int) -> Prompt:
    roles = (Role.SEEKER, Role.SUPPORTER)
    return Prompt(tuple(Turn(roles[place % 2], f"{place} we talked of dogs") for place in range(turns)))


# --- writing


def test_the_same_seed_writes_the_same_drafts_and_another_seed_others(exact: GgufVoice):
    [first] = exact.generate([SAID], seed=3, count=3)
    assert [each.text for each in first] == [each.text for each in exact.generate([SAID], seed=3, count=3)[0]]
    assert len({each.text for each in first}) == 3
    assert first[0].text != exact.generate([SAID], seed=4)[0][0].text
    assert all(each.log_probability < 0 for each in first)


def test_a_greedy_answer_has_no_second_one(voice: GgufVoice):
    with pytest.raises(AllearsError, match="only one greedy answer"):
        voice.generate([SAID], GREEDY, count=2)


def test_a_reply_that_may_not_go_on_is_marked_as_cut(voice: GgufVoice):
    [[found]] = voice.generate([SAID], Settings(method="greedy", longest=2))
    assert found.cut


def test_what_is_streamed_is_what_is_generated(exact: GgufVoice):
    pieces = list(exact.stream(SAID, GREEDY))
    assert len(pieces) > 1
    [[whole]] = exact.generate([SAID], GREEDY)
    assert exact.split("".join(pieces))[1] == whole.text


def test_the_settings_reach_llama(exact: GgufVoice):
    top = Settings(temperature=5.0, top_k=1, longest=12)
    assert [exact.generate([SAID], top, seed=seed)[0][0].text for seed in (1, 2)] == [
        exact.generate([SAID], GREEDY)[0][0].text
    ] * 2
    punished = Settings(method="greedy", longest=40, repetition_penalty=2.0)
    plain = Settings(method="greedy", longest=40)
    assert exact.generate([SAID], punished)[0][0].text != exact.generate([SAID], plain)[0][0].text


def test_persona_strategy_and_days_change_what_is_asked(voice: GgufVoice):
    asked = str(
        voice._asked(Prompt(SAID.turns, ("i have a dog",), "Question", ("i am a program",), days_since=4))
    )
    assert all(words in asked for words in ("i have a dog", "(Question)", "i am a program", "4 days ago"))


def test_likelihoods_and_alphas_are_refused_in_a_sentence(voice: GgufVoice):
    with pytest.raises(AllearsError, match="no perplexity"):
        voice.log_likelihood([SAID], ["yes"])
    with pytest.raises(AllearsError, match="alpha can only be 0"):
        voice.generate([SAID], alphas=PAL_ALPHAS)


# --- the prompt


def last_timings(voice: GgufVoice, prompt: Prompt) -> dict[str, int]:
    pieces = list(voice._pieces(prompt, GREEDY, 0, {}, None))
    assert pieces[-1].timings is not None
    return dict(pieces[-1].timings)


def test_the_beginning_of_a_conversation_is_read_once(tiny: TinyModel):
    voice = GgufVoice(GgufOptions(tiny.file, threads=1))
    first = last_timings(voice, talk(13))
    second = last_timings(voice, talk(15))
    assert first["cache_n"] == 0
    assert second["cache_n"] > 0.8 * first["prompt_n"]
    other = Prompt((Turn(Role.SEEKER, "something else"),), ("i am somebody else",) * 10)
    last_timings(voice, other)
    kept = last_timings(voice, talk(17))
    assert kept["cache_n"] > second["cache_n"]  # while somebody else talked
    voice.close()


def test_more_conversations_than_are_kept_still_get_their_replies(tiny: TinyModel):
    voice = GgufVoice(GgufOptions(tiny.file, threads=1))
    for person in range(7):
        persona = (f"{person} is my number",) * 20
        assert last_timings(voice, Prompt(talk(21).turns, persona))["prompt_n"] > 1024  # half a context each
    voice.close()


def test_without_the_cache_every_prompt_is_read_from_its_first_word(exact: GgufVoice):
    last_timings(exact, talk(5))
    assert last_timings(exact, talk(5))["cache_n"] == 0


def test_a_long_conversation_loses_its_beginning_in_steps(voice: GgufVoice, monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    plain = voice.engine.pieces

    def kept(body, **options):
        asked.append(str(body["messages"]))
        return plain(body, **options)

    monkeypatch.setattr(voice.engine, "pieces", kept)
    firsts = set()
    for turns in (201, 203, 205, 207):
        assert list(voice.stream(talk(turns), GREEDY))
        assert f"{turns - 1} we talked" in asked[-1]
        firsts.add(asked[-1].split(" we talked")[0].rpartition("'")[2])
    assert len(firsts) <= 2  # so that the cache holds mostly
    assert int(firsts.pop()) > 8


def test_a_prompt_that_cannot_be_made_shorter_is_one_sentence(tiny: TinyModel):
    voice = GgufVoice(GgufOptions(tiny.file, context=256, threads=1))
    with pytest.raises(AllearsError, match="too long for a context of 256 tokens"):
        voice.generate([Prompt((Turn(Role.SEEKER, "z9" * 3000),))], GREEDY)
    voice.close()


# --- one after the other


def test_cancelling_ends_the_stream_and_frees_the_model(voice: GgufVoice):
    enough = threading.Event()
    endless = Settings(longest=1500, temperature=1.0)
    stream = voice.stream(SAID, endless, cancelled=enough.is_set)
    next(stream)
    enough.set()
    assert list(stream) == []
    start = monotonic()
    assert voice.generate([SAID], GREEDY)
    assert monotonic() - start < 1


def test_leaving_a_stream_frees_the_model(voice: GgufVoice):
    stream = voice.stream(SAID, Settings(longest=1500))
    next(stream)
    stream.close()
    assert not any(each.name == "llama.cpp" for each in threading.enumerate())


def test_whoever_waits_can_be_cancelled_too(voice: GgufVoice):
    stream = voice.stream(SAID, Settings(longest=1500, temperature=1.0))
    next(stream)
    assert list(voice.stream(SAID, GREEDY, cancelled=lambda: True)) == []
    stream.close()


def test_several_threads_get_the_same_replies_as_one(exact: GgufVoice):
    prompts = [Prompt((Turn(Role.SEEKER, f"{place} dogs"),)) for place in range(6)]
    alone = [exact.generate([prompt], GREEDY)[0][0].text for prompt in prompts]
    found: dict[int, str] = {}

    def ask(place: int) -> None:
        found[place] = exact.generate([prompts[place]], GREEDY)[0][0].text

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[place] for place in range(6)] == alone


def test_an_error_in_a_callback_reaches_the_reader(voice: GgufVoice):
    def broken() -> bool:
        raise RuntimeError("no answer")

    with pytest.raises(RuntimeError, match="no answer"):
        list(voice.stream(SAID, GREEDY, cancelled=broken))


def test_a_closed_voice_says_so_and_breaks_off_what_it_wrote(tiny: TinyModel):
    voice = GgufVoice(GgufOptions(tiny.file, threads=1))
    stream = voice.stream(SAID, Settings(longest=1500, temperature=1.0))
    next(stream)
    voice.close()
    with pytest.raises(AllearsError, match="was closed"):
        list(stream)
    with pytest.raises(AllearsError, match="was closed"):
        voice.generate([SAID], GREEDY)


def test_nothing_is_logged_and_the_interpreter_ends_in_peace(tiny: TinyModel):
    code = (
        "import sys; from pathlib import Path; from allears.runtime.gguf_voice import GgufOptions, GgufVoice; "
        "from allears.runtime.generator import Prompt; from allears.conversation import Role, Turn; "
        "voice = GgufVoice(GgufOptions(Path(sys.argv[1]), threads=1)); "
        "next(voice.stream(Prompt((Turn(Role.SEEKER, 'hi'),))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tiny.file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_other_program_can_read_what_is_said(voice: GgufVoice):
    address = voice.engine._opened.server.listening_address
    for page in ("/slots", "/props", "/v1/models"):
        with pytest.raises(HTTPError) as refused:
            urlopen(address + page, timeout=5)
        assert refused.value.code == 401


# --- files


def test_files_that_cannot_be_opened_are_one_sentence(tiny: TinyModel, tmp_path: Path):
    with pytest.raises(AllearsError, match="no such file"):
        GgufVoice(GgufOptions(tmp_path / "none.gguf"))
    (tmp_path / "text.gguf").write_text("hello")
    with pytest.raises(AllearsError, match="not a GGUF file"):
        GgufVoice(GgufOptions(tmp_path / "text.gguf"))
    half = tmp_path / "half.gguf"
    half.write_bytes(tiny.file.read_bytes()[: tiny.file.stat().st_size // 2])
    with pytest.raises(AllearsError, match="cannot open"):
        GgufVoice(GgufOptions(half))


def test_too_little_memory_is_said_before_anything_is_loaded(
    tiny: TinyModel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(gguf_engine, "free_memory", lambda: 10**8)
    with pytest.raises(AllearsError, match=r"needs about 0\.3 GB of memory, and 0\.1 GB are free"):
        GgufVoice(GgufOptions(tiny.file))


def test_missing_bindings_are_one_sentence(tiny: TinyModel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(AllearsError, match="pip install xllamacpp"):
        GgufEngine(GgufOptions(tiny.file), show_marks=False)


def test_a_card_of_another_layout_is_refused(tmp_path: Path):
    GgufVoiceCard("base", "00", 2, 4, layout=99).write(tmp_path)
    with pytest.raises(AllearsError, match="learned layout 99"):
        card_of(tmp_path / ADAPTER_FILE)
    (tmp_path / "voice.json").write_text('{"base": 3}')
    with pytest.raises(AllearsError, match="not the card of an adapter"):
        card_of(tmp_path / ADAPTER_FILE)
