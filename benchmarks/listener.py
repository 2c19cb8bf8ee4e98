"""What a reply costs: per step, against bare encoder passes, and from a cold start.

python benchmarks/listener.py [--bundle FOLDER] [--voice NAME] [--json] [--check]

1. *Reply*: a ten-turn conversation, several times; the best time of each step counts. The whole reply is compared with
   one bare encoder pass over the same conversation, in the same run. With a voice, `write` is its part.
2. *Start*: a fresh process from nothing to its first reply, against a fresh process that only imports onnxruntime and
   loads the bundle's graphs. The cards are encoded already in both.
3. *Memory*: the resident memory of that fresh process after ten replies.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from allears.listener import Listener
from allears.runtime.selector import Query

MOST_START = 3.0  # times importing onnxruntime and loading the graphs
AIMED_MEMORY = 400  # MiB
SPOKEN = (
    "hi",
    "I had a fight with my brother yesterday.",
    "He borrowed my car without asking and brought it back with an empty tank.",
    "It's not about the money.",
    "He never asks, he just takes things.",
    "I shouted at him in front of our parents, and now I feel bad about it.",
    "My mother said we are both too old for this.",
    "We used to be so close when we were kids.",
    "Maybe I'll write to him tonight.",
    "thanks, bye",
)
START = """
import time, sys
start = time.perf_counter()
{work}
import resource
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
GRAPHS = """
import onnxruntime
from pathlib import Path
options = onnxruntime.SessionOptions()
for graph in sorted(Path({folder!r}).glob("*.onnx")):
    onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
"""
FIRST_REPLY = """
from allears import Listener
Listener.from_bundle({bundle!r}, voice={voice!r}).respond("My dog died on Monday.")
"""
TEN_REPLIES = """
from allears import Listener
listener, talk = Listener.from_bundle({bundle!r}, voice={voice!r}), None
for line in {lines!r}:
    talk = listener.respond(line, talk).conversation
"""


def replies(listener: Listener, rounds: int) -> dict[str, Any]:
    """Mean milliseconds per reply by step, and the same of a bare encoder pass over each conversation."""
    steps: list[dict[str, float]] = [{} for _ in SPOKEN]
    bare = [float("inf")] * len(SPOKEN)
    for _ in range(rounds):
        talk = None
        for place, line in enumerate(SPOKEN):
            reply = listener.respond(line, talk)
            talk = reply.conversation
            for step, spent in reply.why.milliseconds.items():
                steps[place][step] = min(spent, steps[place].get(step, spent))
            start = time.perf_counter()
            listener.selector.encode_queries([Query(talk.turns[-7:-1])])
            bare[place] = min(bare[place], 1000 * (time.perf_counter() - start))
    names = list(dict.fromkeys(step for each in steps for step in each))
    by_step = {name: sum(each.get(name, 0.0) for each in steps) / len(SPOKEN) for name in names}
    whole, one_pass = sum(by_step.values()), sum(bare) / len(bare)
    encoding = sum(
        by_step.get(step, 0.0) for step in ("read", "encode", "screen")
    )  # the screen reads for itself
    return {
        "milliseconds": {name: round(spent, 2) for name, spent in by_step.items()},
        "reply_ms": round(whole, 2),
        "encoder_pass_ms": round(one_pass, 2),
        "reply_in_passes": round(whole / one_pass, 2),
        "encoding_in_passes": round(encoding / one_pass, 2),
    }


def fresh(work: str, rounds: int) -> tuple[float, float]:
    """Best seconds and least peak memory (MiB) of a fresh process that does some work."""
    found = []
    for _ in range(rounds):
        done = subprocess.run(
            [sys.executable, "-c", START.format(work=work)], capture_output=True, text=True, check=True
        )
        found.append(tuple(map(float, done.stdout.split())))
    return min(seconds for seconds, _ in found), min(memory for _, memory in found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bundle", default="default")
    parser.add_argument("--voice", default="default", help="as in `allears chat --voice`")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is broken")
    arguments = parser.parse_args()
    from allears.runtime.bundle import default_bundle

    folder = default_bundle() if arguments.bundle == "default" else Path(arguments.bundle)
    opened = {"bundle": arguments.bundle, "voice": arguments.voice}
    found = replies(Listener.from_bundle(**opened), arguments.rounds)
    graphs, _ = fresh(GRAPHS.format(folder=str(folder)), arguments.rounds)
    first, _ = fresh(FIRST_REPLY.format(**opened), arguments.rounds)
    _, memory = fresh(TEN_REPLIES.format(lines=SPOKEN, **opened), 1)
    found |= {
        "start_seconds": round(first, 2),
        "graphs_seconds": round(graphs, 2),
        "start_ratio": round(first / graphs, 2),
        "memory_mib": round(memory),
        "load": os.getloadavg()[0],
    }
    broken = (
        [f"start_ratio {found['start_ratio']} > {MOST_START}"] if found["start_ratio"] > MOST_START else []
    )
    if found["memory_mib"] > AIMED_MEMORY:
        broken.append(f"memory_mib {found['memory_mib']} > {AIMED_MEMORY}")
    found["broken_limits"] = broken
    if arguments.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:>20}  {value}")
    return 1 if arguments.check and broken else 0


if __name__ == "__main__":
    sys.exit(main())
