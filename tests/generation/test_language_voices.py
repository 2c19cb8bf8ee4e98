"""Language models by name: real servers on this machine, a tiny file, and a sentence for each thing that is missing."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from allears.conversation import Role, Turn
from allears.decoding import Settings
from allears.errors import AllearsError
from allears.models.generation.hub_voice import HubVoice, open_hub_voice
from allears.runtime import voice_choice
from allears.runtime.generator import Prompt, Streams
from allears.runtime.gguf_engine import import_llama
from allears.runtime.gguf_voice import GgufVoice
from allears.runtime.language_voices import VoiceName, is_language_voice, open_language_voice
from tiny_gguf import TinyModel, tiny_model

SAID = Prompt((Turn(Role.SEEKER, "my dog ate the sandwich"),), ("i have a dog",), days_since=2)
SHORT = Settings(temperature=0.9, longest=8)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TinyModel:
    return tiny_model(tmp_path_factory.mktemp("gguf"))


@pytest.fixture(scope="module")
def llama_server(tiny: TinyModel) -> Iterator[str]:
    """llama.cpp's own OpenAI-compatible server, with a key."""
    llama = import_llama()
    params = llama.CommonParams()
    params.model.path, params.model_alias, params.api_keys = str(tiny.file), {"tiny"}, ["secret"]
    params.n_ctx, params.verbosity, params.warmup = 4096, 0, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = params.n_parallel = 1
    server = llama.Server(params)
    yield f"{server.listening_address}/v1"
    del server


@dataclass
class Ollama:
    """Speaks the protocol as Ollama does. `proxied`: what was asked for by way of a proxy."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    proxied: list[str] = field(default_factory=list)


@pytest.fixture
def ollama() -> Iterator[Ollama]:
    found = Ollama()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.proxied += [self.path] if "://" in self.path else []
            models = [{"id": "llama3.2:latest"}, {"id": "qwen3:4b"}]
            self._say({"object": "list", "data": models} if self.path == "/v1/models" else {})

        def do_POST(self) -> None:
            found.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self._say({"choices": [{"message": {"content": "[Question] Which dog?"}}]})

        def _say(self, content: dict[str, Any]) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_port}"
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def nobody() -> str:
    """An address of this machine where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


# --- servers


def test_the_server_of_llama_answers(llama_server: str):
    voice = open_language_voice(f"openai:{llama_server}#tiny", environ={"OPENAI_API_KEY": "secret"})
    [[found]] = voice.generate([SAID], SHORT, seed=1)
    assert found.text
    again = open_language_voice(f"openai:{llama_server}/#tiny", environ={"ALLEARS_REMOTE_KEY": "secret"})
    assert again.generate([SAID], SHORT, seed=1)[0][0].text == found.text


def test_a_wrong_key_or_model_is_one_sentence(llama_server: str):
    with pytest.raises(AllearsError, match="does not accept the key"):
        open_language_voice(f"openai:{llama_server}#tiny", environ={})
    with pytest.raises(AllearsError, match="has no model large; it has tiny"):
        open_language_voice(f"openai:{llama_server}#large", environ={"OPENAI_API_KEY": "secret"})


def test_a_model_of_ollama_answers_with_or_without_its_tag(ollama: Ollama):
    for name in ("llama3.2", "llama3.2:latest", "qwen3:4b"):
        voice = open_language_voice(f"ollama:{name}", environ={"OLLAMA_HOST": ollama.url})
        [[found]] = voice.generate([SAID])
        assert (found.strategy, found.text) == ("Question", "Which dog?")
        assert ollama.bodies[-1]["model"] == name
    asked = ollama.bodies[-1]["messages"][0]["content"]
    assert "i have a dog" in asked
    assert "2 days ago" in asked


def test_ollama_without_the_model_says_how_to_get_it(ollama: Ollama):
    host = ollama.url.removeprefix("http://")
    with pytest.raises(AllearsError, match=r"run: ollama pull phi4 \(it has llama3.2:latest, qwen3:4b\)"):
        open_language_voice("ollama:phi4", environ={"OLLAMA_HOST": host})


def test_servers_that_do_not_run_are_one_sentence(nobody: str):
    with pytest.raises(AllearsError, match="start it with `ollama serve`"):
        open_language_voice("ollama:llama3.2", environ={"OLLAMA_HOST": nobody})
    with pytest.raises(AllearsError, match="nothing answers at"):
        open_language_voice(f"openai:http://{nobody}/v1#tiny", environ={})


def test_a_server_on_this_machine_is_never_asked_through_a_proxy(
    ollama: Ollama, nobody: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("http_proxy", f"http://{nobody}")
    monkeypatch.delenv("no_proxy", raising=False)
    assert open_language_voice("ollama:llama3.2", environ={"OLLAMA_HOST": ollama.url}).generate([SAID])


# --- files and our own


def test_a_gguf_file_speaks_and_streams(tiny: TinyModel):
    voice = open_language_voice(str(tiny.file), threads=1)
    assert isinstance(voice, GgufVoice)
    assert isinstance(voice, Streams)
    assert "".join(voice.stream(SAID, SHORT))
    voice.close()


def test_the_default_voice_is_its_file_and_says_how_to_get_it(
    tiny: TinyModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ALLEARS_MODELS", str(tmp_path))
    with pytest.raises(AllearsError, match="run: allears voice get default"):
        open_language_voice("default")
    monkeypatch.setattr(voice_choice, "installed", lambda base: True)
    monkeypatch.setattr(voice_choice, "weights_file", lambda base: tiny.file)
    monkeypatch.setattr(voice_choice, "BUNDLED", tmp_path)
    plain = voice_choice.NamedVoice("default", "qwen-1.5b", "ours", tmp_path)
    monkeypatch.setitem(voice_choice.VOICES, "default", plain)
    voice = open_language_voice("default", threads=1)
    assert isinstance(voice, GgufVoice)
    assert not voice.ours  # no adapter here yet
    assert voice.generate([SAID], SHORT)
    voice.close()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nobody", "no language model 'nobody'; give default"),
        ("ollama:", "lacks a name behind the colon"),
        ("openai:http://127.0.0.1:1/v1", "lacks an address or a model"),
        ("openai:ftp://x/v1#m", "lacks an address or a model"),
        ("none.gguf", "none.gguf: no such file"),
        ("hf:some/model", "needs torch"),
    ],
)
def test_names_that_lead_nowhere_are_one_sentence(name: str, said: str):
    with pytest.raises(AllearsError, match=said):
        open_language_voice(name, environ={})


def test_names_are_known_without_opening_anything():
    assert VoiceName.of("openai:http://h/v1#m") == VoiceName("openai", "http://h/v1#m")
    assert is_language_voice("qwen-0.5b")
    assert not is_language_voice("retrieval")


# --- with torch


def test_a_hub_model_speaks_through_its_own_template(tiny: TinyModel):
    voice = open_language_voice(f"hf:{tiny.folder}", open_hub=open_hub_voice)
    assert isinstance(voice, HubVoice)
    [drafts] = voice.generate([SAID], SHORT, seed=5, count=2)
    assert drafts == voice.generate([SAID], SHORT, seed=5, count=2)[0]
    assert drafts[0].text != drafts[1].text
    assert drafts[0].log_probability < 0
    greedy = Settings(method="greedy", longest=6)
    [[best]] = voice.generate([SAID], greedy)
    likely, unlikely = voice.log_likelihood([SAID, SAID], [best.text, "xyzzy qq zz"])
    assert likely.log_probability / likely.tokens > unlikely.log_probability / unlikely.tokens


def test_a_template_without_a_system_message_gets_it_with_the_first(tiny: TinyModel):
    voice = open_hub_voice(str(tiny.folder), "cpu")
    voice.tokenizer.chat_template = (
        "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    )
    text = voice.tokenizer.decode(voice._ids(SAID)[0])
    assert text.startswith("user: You are a warm")
    assert "my dog ate the sandwich" in text


def test_a_hub_model_that_cannot_be_had_is_one_sentence(tmp_path: Path, tiny: TinyModel):
    with pytest.raises(AllearsError, match="cannot be loaded; give a hub name"):
        open_hub_voice(str(tmp_path / "nothing"))
    assert "torch" in sys.modules
