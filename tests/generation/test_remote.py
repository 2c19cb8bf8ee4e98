"""An endpoint as a generator: a fake server on this machine answers, refuses, is late and is dead."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic, sleep
from typing import Any

import pytest
from generator_models import talks

from allears.conversation import Role, Turn
from allears.decoding import PAL_ALPHAS, Settings
from allears.errors import AllearsError
from allears.runtime.generator import STRATEGIES, Prompt
from allears.runtime.remote import (
    RemoteGenerator,
    RemoteOptions,
    messages,
    open_remote,
    read_options,
    remote_missing,
)

Answer = tuple[int, Any]


def said(text: str) -> Answer:
    return 200, {"choices": [{"message": {"role": "assistant", "content": text}}]}


@dataclass
class Fake:
    """Answers what `answer` makes of a request's body; keeps the requests."""

    url: str = ""
    answer: Callable[[dict[str, Any]], Answer] = lambda body: said("[Question] What happened?")
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def generator(self, **changes: Any) -> RemoteGenerator:
        return RemoteGenerator(replace(RemoteOptions(self.url, "tiny", "secret", timeout=10), **changes))


@pytest.fixture
def fake(monkeypatch) -> Iterator[Fake]:
    monkeypatch.setattr("allears.runtime.endpoint.FIRST_PAUSE", 0.01)
    found = Fake()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.bodies.append(body)
            found.headers.append(dict(self.headers))
            status, content = found.answer(body)
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.end_headers()
            if isinstance(content, dict):
                content = json.dumps(content).encode()
            for part in [content] if isinstance(content, bytes) else content:
                self.wfile.write(part)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Whoever hangs up on it is in the right here."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


TALK = replace(talks(1)[0].prompt, strategy=None)


def test_a_reply_with_its_strategy(fake):
    (reply,) = fake.generator().generate([TALK], Settings(temperature=0.7, top_p=0.8, longest=20), 3)[0]
    assert (reply.text, reply.strategy) == ("What happened?", "Question")
    body = fake.bodies[0]
    assert (body["model"], body["temperature"], body["top_p"]) == ("tiny", 0.7, 0.8)
    assert fake.headers[0]["Authorization"] == "Bearer secret"
    system = body["messages"][0]["content"]
    assert all(sentence in system for sentence in TALK.persona)
    assert all(f"[{strategy}]" in system for strategy in STRATEGIES)
    assert [each["content"] for each in body["messages"][1:]] == [turn.text for turn in TALK.turns]


def test_a_prescribed_strategy_is_asked_for_and_kept(fake):
    fake.answer = lambda body: said("[Question] You could ask a friend.")
    prompt = replace(TALK, strategy="Providing Suggestions")
    (reply,) = fake.generator().generate([prompt], Settings(method="greedy"))[0]
    assert (reply.text, reply.strategy) == ("You could ask a friend.", "Providing Suggestions")
    assert (
        "suggest one thing they could try (Providing Suggestions)" in fake.bodies[0]["messages"][0]["content"]
    )
    assert fake.bodies[0]["temperature"] == 0


@pytest.mark.parametrize(
    ("written", "text", "strategy"),
    [
        ("Tell me.", "Tell me.", ""),
        ("[question]: Tell me.", "Tell me.", "Question"),
        ("**[Others]** Hello.", "** Hello.", "Others"),
        ("[Singing] La.", "La.", ""),
        ('<think>What now?</think>\n\n"Tell\n me."', "Tell me.", ""),
    ],
)
def test_what_endpoints_write_around_a_reply_goes(fake, written, text, strategy):
    fake.answer = lambda body: said(written)
    (reply,) = fake.generator().generate([TALK])[0]
    assert (reply.text, reply.strategy) == (text, strategy)


def test_several_replies_have_seeds_of_their_own_and_keep_their_places(fake):
    fake.answer = lambda body: said(f"{body['messages'][-1]['content']} {body['seed']}")
    prompts = [Prompt((Turn(Role.SEEKER, f"talk {number}"),)) for number in range(5)]
    found = fake.generator().generate(prompts, seed=[10, 20, 30, 40, 50], count=2)
    assert [[each.text for each in texts] for texts in found] == [
        [f"talk {number} {10 * (number + 1)}", f"talk {number} {10 * (number + 1) + 1}"]
        for number in range(5)
    ]


def test_it_tries_again_when_the_endpoint_stumbles(fake):
    answers = iter([(503, {}), (429, {"error": {"message": "slow down"}}), said("Here.")])
    fake.answer = lambda body: next(answers)
    assert fake.generator(retries=2).generate([TALK])[0][0].text == "Here."
    assert len(fake.bodies) == 3


@pytest.mark.parametrize(
    ("answer", "sentence", "asked"),
    [
        ((503, {}), "cannot answer now: status 503$", 3),
        (
            (401, {"error": {"message": "bad key"}}),
            r"does not accept the key \(bad key\); set ALLEARS_REMOTE_KEY",
            1,
        ),
        ((404, {"error": "no model tiny"}), r"knows no such address or model \(no model tiny\)", 1),
        ((422, b"\xff\xfe"), "refused the request: status 422$", 1),
        ((302, {}), "refused the request: status 302", 1),
        ((200, b"<html>"), "something that is no chat completion", 1),
        ((200, {"choices": []}), "something that is no chat completion", 1),
        ((200, {"choices": [{"message": {"content": None}}]}), "answered without a word", 1),
        (said("  "), "answered without a word", 1),
    ],
)
def test_a_refusal_is_one_sentence_without_the_key(fake, answer, sentence, asked):
    fake.answer = lambda body: answer
    with pytest.raises(AllearsError, match=sentence) as caught:
        fake.generator().generate([TALK])
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(fake.bodies) == asked


def test_a_dead_endpoint_is_one_sentence():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    start = monotonic()
    with pytest.raises(AllearsError, match=rf"{url} does not answer \(connection refused\); is it running\?"):
        RemoteGenerator(RemoteOptions(url, "tiny", timeout=3)).generate([TALK])
    assert monotonic() - start < 3.5


def test_a_late_endpoint_is_one_sentence_in_time(fake):
    fake.answer = lambda body: sleep(5) or said("late")
    start = monotonic()
    with pytest.raises(AllearsError, match="did not answer in time"):
        fake.generator(timeout=0.4).generate([TALK])
    assert monotonic() - start < 2


def test_an_endpoint_that_dribbles_does_not_hang(fake):
    fake.answer = lambda body: (200, (sleep(0.1) or b" " for _ in range(60)))
    start = monotonic()
    with pytest.raises(AllearsError, match="did not answer in time"):
        fake.generator(timeout=0.5).generate([TALK])
    assert monotonic() - start < 2


def test_an_endpoint_that_never_stops_is_left(fake):
    fake.answer = lambda body: (200, b"x" * (3 << 20))
    with pytest.raises(AllearsError, match=r"broke off \(the answer is far too long\)"):
        fake.generator(retries=0).generate([TALK])


def test_a_prompt_too_long_for_the_endpoint_is_shortened(fake):
    def short_only(body: dict[str, Any]) -> Answer:
        if len(body["messages"]) > 6:
            return 400, {"error": {"message": "maximum context length is 60 tokens"}}
        return said("Yes.")

    fake.answer = short_only
    turns = tuple(
        Turn(Role.SEEKER if number % 2 else Role.SUPPORTER, f"words {number}") for number in range(30)
    )
    prompt = Prompt((*turns[:-1], Turn(Role.SEEKER, "the last words")))
    assert fake.generator().generate([prompt])[0][0].text == "Yes."
    assert fake.bodies[-1]["messages"][-1]["content"].endswith("the last words")
    fake.answer = lambda body: (413, {})
    with pytest.raises(AllearsError, match="status 413"):
        fake.generator().generate([prompt])


@pytest.mark.parametrize("sentences", [0, 100])
def test_any_number_of_persona_sentences_is_fine(fake, sentences):
    prompt = replace(TALK, persona=tuple(f"I have {number} cats." for number in range(sentences)))
    assert fake.generator().generate([prompt])[0][0].text
    system = fake.bodies[0]["messages"][0]["content"]
    assert ("told about themselves" in system) is bool(sentences)
    assert "I have 3 cats." not in system  # of many, the latest


def test_the_chat_begins_and_ends_with_the_person():
    turns = (
        Turn(Role.SUPPORTER, "hi"),
        Turn(Role.SUPPORTER, "so?"),
        Turn(Role.SEEKER, "a"),
        Turn(Role.SUPPORTER, "b"),
    )
    assert [(each["role"], each["content"]) for each in messages(Prompt(turns))[1:]] == [
        ("user", "..."),
        ("assistant", "hi\nso?"),
        ("user", "a"),
        ("assistant", "b"),
        ("user", "..."),
    ]


def test_what_an_endpoint_cannot_do_is_one_sentence(fake):
    generator = fake.generator()
    with pytest.raises(AllearsError, match="does not say how likely it finds a response"):
        generator.log_likelihood([TALK], ["so sorry."])
    with pytest.raises(AllearsError, match="has no branch without persona, so alpha can only be 0"):
        generator.generate([TALK], alphas=PAL_ALPHAS)
    with pytest.raises(AllearsError, match="only one greedy answer"):
        generator.generate([TALK], Settings(method="greedy"), count=2)
    assert fake.bodies == []


def test_it_is_off_unless_configured(tmp_path):
    nothing = {"ALLEARS_REMOTE_FILE": str(tmp_path / "none.toml")}
    assert remote_missing(nothing).startswith("the voice remote is off; to use it, set ALLEARS_REMOTE_URL")
    with pytest.raises(AllearsError, match="the voice remote is off"):
        open_remote(nothing)
    assert remote_missing(nothing | {"ALLEARS_REMOTE_URL": "http://localhost:1/v1"})  # and which model?
    named = nothing | {"ALLEARS_REMOTE_URL": "http://localhost:1/v1/", "ALLEARS_REMOTE_MODEL": "tiny"}
    assert remote_missing(named) == ""
    assert open_remote(named).options == RemoteOptions("http://localhost:1/v1", "tiny")


def test_options_come_from_a_file_and_the_environment_comes_first(tmp_path):
    file = tmp_path / "remote.toml"
    file.write_text('url = "http://one/v1"\nmodel = "small"\nretries = 0\ntimeout = 9.5\n')
    environ = {"ALLEARS_REMOTE_FILE": str(file), "ALLEARS_REMOTE_MODEL": "large"}
    assert read_options(environ) == RemoteOptions("http://one/v1", "large", timeout=9.5, retries=0)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("url = ", "not a TOML file"),
        ('uri = "x"', "unknown key 'uri'; known are url, model, key, timeout, retries"),
        ('url = "localhost:1"\nmodel = "m"', "ALLEARS_REMOTE_URL must be an address such as"),
        ('url = "file:///etc/passwd"\nmodel = "m"', "ALLEARS_REMOTE_URL must be an address such as"),
        (
            'url = "http://a/v1"\nmodel = "m"\ntimeout = "soon"',
            "ALLEARS_REMOTE_TIMEOUT must be a number from 1",
        ),
        ('url = "http://a/v1"\nmodel = "m"\nretries = -1', "ALLEARS_REMOTE_RETRIES must be a number from 0"),
    ],
)
def test_wrong_options_are_one_sentence(tmp_path, content, sentence):
    file = tmp_path / "remote.toml"
    file.write_text(content)
    assert sentence in remote_missing({"ALLEARS_REMOTE_FILE": str(file)})
