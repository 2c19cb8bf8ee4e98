"""Any OpenAI-compatible endpoint as a generator: persona and strategy go into the prompt. Off unless configured.

    export ALLEARS_REMOTE_URL=http://localhost:11434/v1  ALLEARS_REMOTE_MODEL=llama3.2  [ALLEARS_REMOTE_KEY=...]

or the same words in lower case, without ALLEARS_REMOTE_, in `remote.toml` in the user's folder for settings
(`settings_file()` says where); what the environment says comes first. Everything that a person says is sent to that
address. Standard library only, so that it works in the light install.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn
from urllib.parse import urlsplit

from platformdirs import user_config_path

from allears.conversation import Role, Turn
from allears.decoding import Settings
from allears.errors import AllearsError
from allears.runtime.endpoint import Endpoint, TooLongError
from allears.runtime.generating import SeededGenerator, WritingRequest
from allears.runtime.generator import STRATEGIES, Generated, Prompt

PREFIX = "ALLEARS_REMOTE_"
AT_ONCE = 4  # requests
TIMEOUT, RETRIES = 25.0, 2
TURNS, PERSONA_SENTENCES, TURN_LETTERS = (
    20,
    20,
    2000,
)  # of the latest; a prompt that is still too long is halved
_ASK = (
    "You are a warm and attentive listener, not a therapist: you do not diagnose, and you do not lecture. Answer the "
    "person's last message in one to three plain sentences, without a heading or a list."
)
_WAYS = {
    "Question": "ask about what happened or how they feel",
    "Restatement or Paraphrasing": "say in your own words what they told you",
    "Reflection of feelings": "name what they seem to feel",
    "Self-disclosure": "share something similar that a person might have lived through",
    "Affirmation and Reassurance": "affirm what they do well and reassure them",
    "Providing Suggestions": "suggest one thing they could try",
    "Information": "tell them something useful to know",
    "Others": "greet, thank or keep them company",
}
_TAG = re.compile(r"^\W*\[([^\]]{3,40})\]\s*[:\-]?\s*")
_THOUGHT = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    """Where the endpoint is and how long to wait: `timeout` seconds for one call of `generate`, retries included."""

    url: str
    model: str
    key: str = ""
    timeout: float = TIMEOUT
    retries: int = RETRIES


def settings_file() -> Path:
    return user_config_path("allears") / "remote.toml"


def remote_missing(environ: Mapping[str, str] = os.environ) -> str:
    """What is missing for the voice `remote`, and how to give it; "" where it is configured."""
    try:
        read_options(environ)
    except AllearsError as error:
        return str(error)
    return ""


def open_remote(environ: Mapping[str, str] = os.environ) -> RemoteGenerator:
    """The configured endpoint. Nothing is asked of it yet."""
    return RemoteGenerator(read_options(environ))


def read_options(environ: Mapping[str, str] = os.environ) -> RemoteOptions:
    """From the environment, and from `remote.toml` what it does not say."""
    found = _file_options(Path(environ.get(f"{PREFIX}FILE") or settings_file()))
    for name in _NAMES:
        if value := environ.get(PREFIX + name.upper()):
            found[name] = value
    if not found.get("url") or not found.get("model"):
        raise AllearsError(
            f"the voice remote is off; to use it, set {PREFIX}URL (such as http://localhost:11434/v1) and {PREFIX}MODEL"
        )
    address = urlsplit(str(found["url"]))
    if address.scheme not in ("http", "https") or not address.hostname:
        raise AllearsError(
            f"{PREFIX}URL must be an address such as http://localhost:11434/v1, got {found['url']!r}"
        )
    return RemoteOptions(
        url=str(found["url"]).rstrip("/"),
        model=str(found["model"]),
        key=str(found.get("key", "")),
        timeout=_number(found, "timeout", TIMEOUT, least=1),
        retries=int(_number(found, "retries", RETRIES, least=0)),
    )


_NAMES = ("url", "model", "key", "timeout", "retries")


def _file_options(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AllearsError(f"{path}: not a TOML file ({error})") from error
    for name in found:
        if name not in _NAMES:
            raise AllearsError(f"{path}: unknown key {name!r}; known are {', '.join(_NAMES)}")
    return found


def _number(found: Mapping[str, Any], name: str, default: float, *, least: float) -> float:
    try:
        value = float(found.get(name, default))
    except (TypeError, ValueError):
        value = -1.0
    if not least <= value < 3600:
        raise AllearsError(
            f"{PREFIX}{name.upper()} must be a number from {least} to 3600, got {found.get(name)!r}"
        )
    return value


class RemoteGenerator(SeededGenerator):
    """What `settings` ask for that the protocol does not know (top-k, penalties, blocked n-grams) is left to the
    endpoint; beam search is greedy there. A reply's `log_probability` is 0: endpoints do not say it."""

    def __init__(self, options: RemoteOptions):
        self.options = options
        self.endpoint = Endpoint(options.url, options.key, retries=options.retries)

    def _write(self, request: WritingRequest) -> list[list[Generated]]:
        self._check_alphas(request.alphas, "remote")
        settings, count = request.settings, request.count
        if count > 1 and settings.method != "sample":
            raise AllearsError(
                f"an endpoint has only one {settings.method} answer; for {count} of them use sample"
            )
        wanted = [
            (prompt, seed + number)
            for prompt, seed in zip(request.prompts, request.seeds, strict=True)
            for number in range(count)
        ]
        deadline = monotonic() + self.options.timeout
        with ThreadPoolExecutor(AT_ONCE) as pool:
            replies = list(pool.map(lambda pair: self._one(pair[0], pair[1], settings, deadline), wanted))
        return [replies[start : start + count] for start in range(0, len(replies), count)]

    def log_likelihood(self, prompts: Sequence[Prompt], responses: Sequence[str]) -> NoReturn:
        raise AllearsError(
            f"the endpoint {self.options.url} does not say how likely it finds a response, so a remote voice has no "
            "perplexity"
        )

    def _one(self, prompt: Prompt, seed: int, settings: Settings, deadline: float) -> Generated:
        turns = TURNS
        body = {"model": self.options.model, "seed": seed % 2**31, "max_tokens": 3 * settings.longest}
        if settings.method == "sample":
            body["temperature"] = settings.temperature
            if settings.top_p is not None:
                body["top_p"] = settings.top_p
        else:
            body["temperature"] = 0
        while True:
            try:
                answer = self.endpoint.chat({**body, "messages": messages(prompt, turns)}, deadline)
            except TooLongError as error:
                shown = min(turns, len(prompt.turns))
                if shown <= 1:
                    raise AllearsError(str(error)) from error
                turns = shown // 2
            else:
                return self._generated(prompt, answer)

    def _generated(self, prompt: Prompt, answer: str) -> Generated:
        text, named = without_tag(_THOUGHT.sub("", answer))
        if not text:
            raise AllearsError(f"the endpoint {self.options.url} answered without a word")
        return Generated(text, prompt.strategy or named, 0.0)


def messages(prompt: Prompt, turns: int = TURNS) -> list[dict[str, str]]:
    """The chat that is sent: what is asked, what is known of the person, and the last `turns` turns."""
    parts = [_ASK]
    if prompt.strategy is not None:
        parts.append(f"In this answer, {_WAYS[prompt.strategy]} ({prompt.strategy}).")
    else:
        ways = "; ".join(f"[{name}] {_WAYS[name]}" for name in STRATEGIES)
        parts.append(f"Begin with one of these in square brackets, and then do it: {ways}.")
    known = [" ".join(text.split()) for text in prompt.persona if text.strip()][-PERSONA_SENTENCES:]
    if known:
        parts.append(
            "What the person has told about themselves, in their own words (use it where it helps, never recite "
            f"it): {' '.join(known)}"
        )
    if prompt.own_persona:
        parts.append(f"About you: {' '.join(prompt.own_persona)}")
    if prompt.days_since is not None:
        parts.append(f"You last talked {prompt.days_since} days ago.")
    talk = [_message(turn) for turn in prompt.turns[-turns:]]
    if not talk or talk[-1]["role"] != "user":
        talk.append({"role": "user", "content": "..."})
    return [{"role": "system", "content": " ".join(parts)}, *_joined(talk)]


def _message(turn: Turn) -> dict[str, str]:
    role = "assistant" if turn.speaker is Role.SUPPORTER else "user"
    return {"role": role, "content": turn.text[-TURN_LETTERS:]}


def _joined(talk: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Messages of one role in a row as one, and the user's first: many endpoints take no other order."""
    found: list[dict[str, str]] = []
    if talk[0]["role"] != "user":
        found.append({"role": "user", "content": "..."})
    for each in talk:
        if found and found[-1]["role"] == each["role"]:
            found[-1] = {**each, "content": f"{found[-1]['content']}\n{each['content']}"}
        else:
            found.append(each)
    return found


def without_tag(text: str) -> tuple[str, str]:
    """A reply's words, and the strategy that it named before them ("" where it named none of ours)."""
    text = " ".join(text.split())
    found = _TAG.match(text)
    if found is None:
        return text.strip('" '), ""
    named = next((name for name in STRATEGIES if name.lower() == found[1].strip().lower()), "")
    return text[found.end() :].strip('" '), named
