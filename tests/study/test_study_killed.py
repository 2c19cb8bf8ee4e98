"""Fifty raters at once, over the network, while the server is killed and started again."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from study_making import PREFERENCE, frozen_study, open_store, write_study
from study_server import study_process

from allears.study.assignment import missing, wanted

RATERS, PATIENCE = 50, 90.0


class Persistent:
    """A rater's page: what gets no answer is sent again."""

    def __init__(self, url: str, token: str) -> None:
        self.client = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=20)

    def post(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                answer = self.client.post(f"/api/study/{path}", json=body or {})
                if answer.status_code == 200:
                    return dict(answer.json())
                assert answer.status_code in (409, 429, 503), answer.text
            except httpx.TransportError:
                pass
            assert time.monotonic() < end, path
            time.sleep(0.1)


def test_fifty_raters_and_a_killed_server_lose_nothing_and_rate_nothing_too_often(tmp_path: Path, url: str):
    folder = write_study(
        tmp_path / "a", PREFERENCE, items=10, systems=["one", "three"], units=3, fourth="better"
    )
    design, _ = frozen_study(folder)
    with open_store(url, folder) as store:
        tokens = [store.new_link() for _ in range(RATERS)]
    acknowledged: list[str] = []
    enough = threading.Event()

    def rate(address: str, number: int) -> None:
        page = Persistent(address, tokens[number])
        page.post("consent", {"agree": True})
        step = page.post("begin")
        while step["stage"] == "unit":
            key = step["unit"]["key"]
            vote = ("A", "B", "tie")[(number + len(acknowledged)) % 3]
            page.post(f"units/{key}/answers", {"answers": {"better": vote}})
            acknowledged.append(key)
            if len(acknowledged) >= 10:
                enough.set()
            step = page.post("next")
        assert step["stage"] == "done"

    with ThreadPoolExecutor(RATERS) as pool:
        with study_process(folder, url) as (process, address):
            running = [pool.submit(rate, address, number) for number in range(RATERS)]
            assert enough.wait(PATIENCE)
            process.kill()
        before = len(acknowledged)
        with study_process(folder, url, int(address.rpartition(":")[2])):
            for each in running:
                each.result()
            with open_store(url, folder) as store:
                # the last answers may have left a split when everybody else was done: some come back and look
                for number in range(RATERS):
                    if not any(missing(unit, design.raters) for unit in store.states()):
                        break
                    rate(address, number)
                stored = store.answered()
                states = store.states()
    assert before < len(acknowledged) == len(set(acknowledged))
    assert set(acknowledged) <= {each.key for each in stored}
    assert max(Counter((each.rater, each.unit.key) for each in stored).values()) == 1
    assert all(len(unit.votes) == wanted(unit.votes, design.raters) for unit in states)
    assert not [each for each in stored if each.state == "spare"]
