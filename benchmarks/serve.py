"""How does the server bear many people at once, and what does answering them together gain?

    python benchmarks/serve.py                      # 64 conversations for 60 s, with batching and without
    python benchmarks/serve.py --seconds 10 --json
    python benchmarks/serve.py --database postgresql://localhost/allears

Two real servers, `allears serve` with batching and without, each in a process of its own on the same two cores; 64
people, each with a token, each saying one line after the other and beginning anew after twenty turns. The servers take
turns of ten seconds, so that whatever else the machine does meets both. Measured of each:

- errors: answers that are no reply;
- mixed up: a reply that names another conversation or turn than it was asked in, a stored conversation that is not
  word for word what its person said and heard, or anything of another person's in it;
- memory: the server's resident memory in the last third of the time against the second third, and after every turn;
- throughput: replies a second; the ratio of both is what batching gains;
- computing: milliseconds of both cores together for each reply, how many cores the server used, and how many other
  programs used meanwhile. If those took much, the gain is worth nothing: that counts as a broken limit.

`same as alone` is how many replies of a few conversations the listener gives again when it is asked one by one.
`encoder` is how much cheaper a text is for the encoder among sixteen than alone: no gain from batching can be much
larger where the encoder is most of the work. The exit code is 1 if a limit is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

LEAST_GAIN = 3.0  # times the throughput without batching
MOST_GROWTH = 1.05  # times the resident memory in the second third of the time
MOST_ELSEWHERE = 0.2  # cores that other programs may use meanwhile
TURN = 10.0  # seconds that a server is loaded before it is the other's turn
TURNS = 20  # of a conversation; then a new one begins
CORES = 2
LINES = (
    "hi, I am called {name}",
    "I had a fight with my brother {name} yesterday.",
    "He borrowed my car without asking and brought it back empty, said {name}.",
    "It is not about the money, {name} knows that.",
    "He never asks, he just takes things from {name}.",
    "I shouted at him in front of our parents, and now {name} feels bad about it.",
    "We used to be so close when {name} and I were kids.",
    "Maybe {name} writes to him tonight.",
    "What would you tell {name}?",
    "thanks, {name} says bye",
)


@dataclass
class Talk:
    """What one person said and heard in one conversation."""

    id: str
    said: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    over: bool = False


@dataclass
class Person:
    """One of the people at the server: a token, a name nobody else has, and their conversations."""

    token: str
    name: str
    talks: list[Talk] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)


class Connection:
    """A little HTTP client that stays connected. A large one would take the server's cores."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._head = f"Host: localhost\r\nAuthorization: Bearer {token}\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        content = b"" if body is None else json.dumps(body).encode()
        kind = "Content-Type: application/json\r\n" if content else ""
        head = f"{method} {path} HTTP/1.1\r\n{self._head}{kind}Content-Length: {len(content)}\r\n\r\n"
        writer.write(head.encode() + content)
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        answer = await reader.readexactly(int(headers["content-length"]))
        return int(lines[0].split()[1]), json.loads(answer)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


class Server:
    """`allears serve` with the tokens of all people."""

    def __init__(self, command: list[str], folder: Path, people: list[Person], options: list[str]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        tokens = folder / "tokens"
        tokens.write_text("\n".join(person.token for person in people) + "\n")
        self.log = folder / "log"
        limits = ["--rate", "100000", "--burst", "100000", "--quiet"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port), "--token-file", str(tokens), *limits, *options],
                stdout=log,
                stderr=log,
            )
        self._wait()

    def _wait(self) -> None:
        for _ in range(1800):
            if self.process.poll() is not None:
                sys.exit(f"the server did not start:\n{self.log.read_text()}")
            with contextlib.suppress(OSError, urllib.error.URLError):
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/health", timeout=5).close()
                return
            time.sleep(0.1)
        sys.exit("the server did not start within 180 s")

    def memory(self) -> float:
        """Resident MiB."""
        return float(psutil.Process(self.process.pid).memory_info().rss / 2**20)

    def cpu(self) -> float:
        """Seconds of all cores together that the server has computed so far."""
        spent = psutil.Process(self.process.pid).cpu_times()
        return float(spent.user + spent.system)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


async def chat(person: Person, port: int, end: float) -> None:
    """Talk until the time is over."""
    connection = Connection(port, person.token)
    try:
        while time.perf_counter() < end:
            if not person.talks or person.talks[-1].over:
                status, started = await connection.ask("POST", "/api/conversations")
                if status != 201:
                    person.errors.append(f"{status} {started}")
                    continue
                person.talks.append(Talk(started["id"]))
            talk = person.talks[-1]
            talk.over = (
                not await say(person, talk, len(talk.said), connection) or len(talk.said) == TURNS // 2
            )
    finally:
        connection.close()


async def say(person: Person, talk: Talk, number: int, connection: Connection) -> bool:
    text = LINES[number % len(LINES)].format(name=person.name)
    start = time.perf_counter()
    status, reply = await connection.ask("POST", f"/api/conversations/{talk.id}/messages", {"text": text})
    if status != 200:
        person.errors.append(f"{status} {reply}")
        return False
    person.seconds.append(time.perf_counter() - start)
    talk.said.append(text)
    talk.heard.append(reply["text"])
    if (reply["conversation"], reply["turn"]) != (talk.id, 2 * number + 2):
        person.mixed.append(f"{talk.id}: turn {reply['turn']} of {reply['conversation']}")
    return True


async def check(people: list[Person], port: int) -> None:
    """Is everything stored as it was said and heard, and nothing of another person's with it?"""
    for person in people:
        connection = Connection(port, person.token)
        others = [other.name for other in people if other is not person]
        status, exported = await connection.ask("GET", "/api/export")
        whole = json.dumps(exported)
        if status != 200 or any(name in whole for name in others):
            person.mixed.append(f"{person.name}: another's name in the export")
        for talk in person.talks:
            _, stored = await connection.ask("GET", f"/api/conversations/{talk.id}")
            texts = [turn["text"] for turn in stored["turns"]]
            if texts[::2] != talk.said or texts[1::2] != talk.heard:
                person.mixed.append(f"{talk.id}: not what was said and heard")
        connection.close()


def same_as_alone(bundle: str, people: list[Person], count: int) -> tuple[int, int]:
    """Of how many replies the listener, asked one by one, gives how many again."""
    from allears.listener.listener import Listener

    listener = Listener.from_bundle(bundle)
    same = total = 0
    for talk in [person.talks[0] for person in people[:count] if person.talks]:
        conversation = None
        for text, heard in zip(talk.said, talk.heard, strict=True):
            reply = listener.respond(text, conversation)
            conversation = reply.conversation
            same, total = same + (reply.text == heard), total + 1
    return same, total


def computed_by_all() -> float:
    """Seconds that all programs but this one have computed since the machine started."""
    spent, own = psutil.cpu_times(), psutil.Process().cpu_times()
    return float(sum(spent) - spent.idle - getattr(spent, "iowait", 0.0) - own.user - own.system)


class Load:
    """What a server was asked so far, and what it took."""

    def __init__(self, server: Server, people: list[Person]) -> None:
        self.server, self.people = server, people
        self.seconds = self.computed = self.elsewhere = 0.0
        self.memory: list[float] = []
        self.after_turns: list[float] = []

    async def turn(self, seconds: float) -> None:
        """Everybody talks for some time, and whoever waits for a reply then still gets it."""
        start, computed, all_computed = time.perf_counter(), self.server.cpu(), computed_by_all()
        watching = asyncio.create_task(self._watch(seconds / 10))
        await asyncio.gather(*(chat(person, self.server.port, start + seconds) for person in self.people))
        watching.cancel()
        self.seconds += time.perf_counter() - start
        self.computed += self.server.cpu() - computed
        self.elsewhere += computed_by_all() - all_computed - (self.server.cpu() - computed)
        self.after_turns.append(self.server.memory())

    async def _watch(self, seconds: float) -> None:
        while True:
            self.memory.append(self.server.memory())
            await asyncio.sleep(seconds)

    async def found(self) -> dict[str, Any]:
        await check(self.people, self.server.port)
        third = len(self.memory) // 3  # the first third is warming up: the largest batch has not come yet
        early = statistics.mean(self.memory[third : 2 * third] or self.memory)
        late = statistics.mean(self.memory[2 * third :])
        times = sorted(time for person in self.people for time in person.seconds)
        return {
            "replies": len(times),
            "replies_per_second": len(times) / self.seconds,
            "median_ms": 1000 * statistics.median(times) if times else None,
            "p95_ms": 1000 * times[int(0.95 * len(times))] if times else None,
            "cpu_ms_per_reply": 1000 * self.computed / len(times) if times else None,
            "cores": self.computed / self.seconds,
            "cores_elsewhere": self.elsewhere / self.seconds,
            "errors": sum(len(person.errors) for person in self.people),
            "mixed_up": sum(len(person.mixed) for person in self.people),
            "examples": [text for person in self.people for text in (*person.errors, *person.mixed)][:5],
            "memory_mib": [round(early, 1), round(late, 1)],
            "memory_growth": late / early,
            "memory_after_turns_mib": [round(each) for each in self.after_turns],
            "server_log": self.server.log.read_text().count(" ERROR "),
        }


def crowd(count: int) -> list[Person]:
    """Names of one made-up word each, none of which is part of another."""
    return [Person(secrets.token_urlsafe(24), f"Zq{number:03d}x") for number in range(count)]


@contextlib.contextmanager
def two_cores() -> Iterator[None]:
    """Whatever the server counts as cores, it counts these."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:CORES])
    yield
    os.sched_setaffinity(0, before)


@contextlib.contextmanager
def serving(choices: argparse.Namespace, *, batching: bool) -> Iterator[Load]:
    people = crowd(choices.conversations)
    command = (
        [sys.executable, choices.server] if choices.server else [sys.executable, "-m", "allears", "serve"]
    )
    options = [] if batching else ["--no-batching"]
    if not choices.server:
        options += ["--bundle", choices.bundle]
    with tempfile.TemporaryDirectory() as folder:
        options += ["--database", choices.database or str(Path(folder) / "memory.db")]
        with two_cores():
            server = Server(command, Path(folder), people, options)
        try:
            yield Load(server, people)
        finally:
            server.stop()


def measure(choices: argparse.Namespace) -> tuple[dict[str, dict[str, Any]], list[Person]]:
    """Both ways by turns; whoever goes first in one round goes second in the next."""
    rounds = max(1, round(choices.seconds / TURN))
    with serving(choices, batching=True) as together, serving(choices, batching=False) as one_by_one:
        loads = {"together": together, "one by one": one_by_one}
        for number in range(rounds):
            for each in list(loads.values())[:: -1 if number % 2 else 1]:
                asyncio.run(each.turn(choices.seconds / rounds))
        return {name: asyncio.run(each.found()) for name, each in loads.items()}, together.people


def encoder_gain(bundle: str, count: int = 16) -> float:
    """How many times cheaper a conversation is for the encoder among `count` than alone."""
    from allears.conversation import Role, Turn
    from allears.runtime.onnx_selector import OnnxSelector
    from allears.runtime.selector import Query

    with two_cores():
        selector = OnnxSelector.from_bundle(bundle)
    lines = [line.format(name="Ada") for line in LINES]
    talks = [lines[: 1 + number % len(lines)][-6:] for number in range(count)]
    asked = [Query(tuple(Turn(Role.SEEKER, text) for text in talk)) for talk in talks]
    alone, among = [], []
    for _ in range(5):
        start = time.perf_counter()
        for query in asked:
            selector.encode_contexts([query])
        middle = time.perf_counter()
        selector.encode_contexts(asked)
        alone.append(middle - start)
        among.append(time.perf_counter() - middle)
    return min(alone) / min(among)


def broken(found: dict[str, dict[str, Any]], gain: float) -> list[str]:
    limits = []
    for name, each in found.items():
        if each["errors"] or each["mixed_up"]:
            limits.append(f"{name}: {each['errors']} errors, {each['mixed_up']} mixed up: {each['examples']}")
        if each["memory_growth"] > MOST_GROWTH:
            limits.append(f"{name}: memory grew {each['memory_growth']:.3f} times")
    if gain < LEAST_GAIN:
        limits.append(f"batching gains {gain:.2f} times, not {LEAST_GAIN}")
    elsewhere = [each["cores_elsewhere"] for each in found.values()]
    if max(elsewhere) > MOST_ELSEWHERE:
        limits.append(
            f"other programs used {elsewhere[0]:.2f} and {elsewhere[1]:.2f} cores meanwhile, so throughput and gain "
            "are theirs as well; measure on a quiet machine"
        )
    return limits


def report(found: dict[str, dict[str, Any]], gain: float) -> Table:
    table = Table(min_width=100)
    headings = (
        "",
        "replies/s",
        "median ms",
        "95% ms",
        "CPU ms",
        "cores",
        "others",
        "errors",
        "mixed up",
        "memory MiB",
    )
    for heading in (*headings, "growth"):
        table.add_column(heading, justify="right")
    for name, each in found.items():
        early, late = each["memory_mib"]
        table.add_row(
            name,
            f"{each['replies_per_second']:.1f}",
            f"{each['median_ms']:.0f}",
            f"{each['p95_ms']:.0f}",
            f"{each['cpu_ms_per_reply']:.0f}",
            f"{each['cores']:.2f}",
            f"{each['cores_elsewhere']:.2f}",
            str(each["errors"]),
            str(each["mixed_up"]),
            f"{early:.0f} → {late:.0f}",
            f"{each['memory_growth']:.3f}",
        )
    table.caption = f"answering together gains {gain:.2f} times"
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--conversations", type=int, default=64)
    parser.add_argument("--bundle", default="default")
    parser.add_argument("--database", help="a file or a URL; default: a new SQLite file")
    parser.add_argument("--alone", type=int, default=4, help="conversations to repeat one by one")
    parser.add_argument("--server", help="a script to start in place of `allears serve`")
    parser.add_argument("--json", action="store_true")
    choices = parser.parse_args()
    found, people = measure(choices)
    gain = found["together"]["replies_per_second"] / found["one by one"]["replies_per_second"]
    encoder = 0.0 if choices.server else encoder_gain(choices.bundle)
    same, total = (0, 0) if choices.server else same_as_alone(choices.bundle, people, choices.alone)
    limits = broken(found, gain)
    if choices.json:
        alone = {"same": same, "of": total}
        more = {"gain": gain, "encoder_gain": encoder, "same_as_alone": alone, "broken_limits": limits}
        print(json.dumps({**found, **more}))
    else:
        print(f"{choices.conversations} conversations, {choices.seconds:.0f} s each, {CORES} cores")
        Console().print(report(found, gain))
        print(f"same as alone: {same} of {total} replies; encoder: {encoder:.2f} times")
        for name, each in found.items():
            print(f"MiB after each turn, {name}: {' '.join(map(str, each['memory_after_turns_mib']))}")
        print(*limits, sep="\n")
    sys.exit(1 if limits else 0)


if __name__ == "__main__":
    main()
