from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SCRIPT = REPOSITORY / "benchmarks" / "serve.py"
ECHO = """
import sys
sys.path.insert(0, {tests!r})
import live_server
from echo_listener import Echo

class Listener(Echo):
{body}

live_server.Echo = Listener
live_server.main()
"""
SLOW = """
    def respond(self, *arguments, **options):
        import time
        time.sleep(0.02)  # what batching saves
        return super().respond(*arguments, **options)
"""
CONFUSED = """
    def _reply(self, *arguments):
        from dataclasses import replace
        reply = super()._reply(*arguments)
        self.last, before = reply.text, getattr(self, "last", reply.text)
        turns = (*reply.conversation.turns[:-1], replace(reply.conversation.turns[-1], text=before))
        return replace(reply, conversation=replace(reply.conversation, turns=turns))  # stores what it did not say
"""


def run(tmp_path: Path, body: str, *options: object) -> subprocess.CompletedProcess[str]:
    server = tmp_path / "server.py"
    server.write_text(ECHO.format(tests=str(REPOSITORY / "tests"), body=body))
    command = [sys.executable, SCRIPT, "--server", server, "--conversations", 8, "--seconds", 3, *options]
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)


def test_both_ways_are_loaded_and_compared(tmp_path: Path):
    done = run(tmp_path, SLOW, "--json")
    found = json.loads(done.stdout)
    for way in ("together", "one by one"):
        assert found[way]["replies"] > 20
        assert (found[way]["errors"], found[way]["mixed_up"]) == (0, 0)
        assert min(found[way]["memory_mib"]) > 10
    ratio = found["together"]["replies_per_second"] / found["one by one"]["replies_per_second"]
    assert found["gain"] == pytest.approx(ratio)
    assert found["gain"] > 1
    assert done.returncode == bool(found["broken_limits"])


def test_words_in_the_wrong_place_are_noticed(tmp_path: Path):
    done = run(tmp_path, CONFUSED, "--json")
    found = json.loads(done.stdout)
    assert found["together"]["mixed_up"] > 0
    assert any("mixed up" in limit for limit in found["broken_limits"])
    assert done.returncode == 1
