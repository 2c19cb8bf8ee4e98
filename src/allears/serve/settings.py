"""How a server is run: where it listens, who may come in, how much they may ask."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from allears.errors import AllearsError

LONGEST_MESSAGE = 8000  # characters: as many as the listener reads
SHORTEST_TOKEN = 16  # characters; whoever guesses a token reads a person's conversations
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class ServerSettings:
    """Checked when it is made, so that a server with an open door is never started."""

    host: str = "127.0.0.1"
    port: int = 8377
    tokens: tuple[str, ...] = field(default=(), repr=False)  # one per person; none: this machine's person
    metrics_token: str | None = field(default=None, repr=False)
    salt: str = field(default="", repr=False)  # goes into person ids; the same for all servers on a database
    hosts: tuple[str, ...] = ()  # more names this server answers to
    origins: tuple[str, ...] = ()  # web pages elsewhere that may use it, as "https://example.org"
    batching: bool = True
    batch_size: int = 16  # more take memory and make people wait, and gain nothing (benchmarks/serve.py)
    batch_seconds: float = 0.004  # how long the first message of a batch waits for company
    threads: int = 1  # how many batches the listener is given at once
    waiting: int = 512  # messages in the queue; more are told to come back
    body_bytes: int = 256 * 1024
    rate: float = 5.0  # requests per second and person, in the long run
    burst: int = 60  # requests a person may make at once
    sockets: int = 32  # WebSockets a person may hold open

    def __post_init__(self) -> None:
        reachable_as = [name for name in (self.host, *self.hosts) if not _is_local(name)]
        if reachable_as and not self.tokens:
            raise AllearsError(
                f"as {reachable_as[0]} other machines can reach the server, so it needs an access token: add --token, "
                "--token-file or the variable ALLEARS_TOKEN, or listen on 127.0.0.1 only"
            )
        for token in (*self.tokens, *([self.metrics_token] if self.metrics_token is not None else [])):
            if len(token) < SHORTEST_TOKEN or not (token.isascii() and token.isprintable()) or " " in token:
                raise AllearsError(
                    f"an access token must have at least {SHORTEST_TOKEN} characters, letters, digits and signs "
                    "without spaces; `python -c 'import secrets; print(secrets.token_urlsafe())'` prints a good one"
                )
        if len({*self.tokens, self.metrics_token}) != len(self.tokens) + 1:
            raise AllearsError("the same access token was given twice; each person needs their own")
        for origin in self.origins:
            if not origin.startswith(("http://", "https://")) or origin.count("/") != 2:
                raise AllearsError(
                    f"--origin must look like https://example.org, without a path, got {origin!r}"
                )

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the server."""
        return _is_local(self.host)


def _is_local(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name.lower() == "localhost"
