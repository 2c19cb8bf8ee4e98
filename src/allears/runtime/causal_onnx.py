"""A language model on the CPU: int8, in onnxruntime, with a cache that every step writes into. No torch here.

The graph (`llama_graph.py`) is made once, from the base weights and an adapter, and kept in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
from platformdirs import user_cache_path
from rich.console import Console
from rich.progress import Progress
from tokenizers import Tokenizer

from allears.errors import AllearsError
from allears.runtime.causal import WEIGHTS_FILE, CausalCard, CausalGenerator, read_card
from allears.runtime.chat_layout import ChatLayout
from allears.runtime.language_models import place_of
from allears.runtime.llama import LlamaTokenizer, read_llama, with_adapter
from allears.runtime.onnx_encoder import open_graph
from allears.runtime.runs import MODEL_FILE, best

GRAPH_FILE, TOKENIZER_FILE = "model.onnx", "tokenizer.json"
GRAPH_VERSION = "1"  # raise it when `llama_graph.py` makes another graph of the same weights
LARGEST_FILE = 2**30
SLACK = 16  # tokens: how much longer a full cache becomes at once

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]


@dataclass(slots=True)
class Caches:
    """Of every layer keys and values [rows, heads, room, size], and how many places of each row are real.

    A step writes into them: whoever has taken one goes on with what it gave back, never with what it was given.
    """

    parts: list[Floats]
    lengths: npt.NDArray[np.int32]

    @property
    def room(self) -> int:
        return int(self.parts[0].shape[2])


class OnnxRuntime:
    """`longest`: the tokens that a reply may have; a cache is made that much longer than its prompt."""

    def __init__(self, session: onnxruntime.InferenceSession, *, longest: int = 96):
        self.session, self.longest = session, longest
        self._caches = [
            item.name for item in session.get_inputs() if item.name.startswith(("key.", "value."))
        ]
        shape = session.get_inputs()[-1].shape
        self.heads, self.size = int(shape[1]), int(shape[3])

    def tokens(self, ids: Sequence[int]) -> Integers:
        return np.asarray(ids, np.int64)

    def begin(self, heads: Sequence[Sequence[int]], tails: Sequence[Sequence[Sequence[int]]]) -> Caches:
        """Equal heads are read once, and so are equal tails of a head; one at a time, since nothing is gained by
        reading several: a prompt has enough tokens to keep every core at work, and mates would only be padded."""
        longest = max(len(head) + len(tail) for head, own in zip(heads, tails, strict=True) for tail in own)
        room = longest + self.longest
        read: dict[tuple[int, ...], Caches] = {}
        whole: dict[tuple[tuple[int, ...], tuple[int, ...]], Caches] = {}
        order = []
        for head, own in zip(heads, tails, strict=True):
            key = tuple(head)
            if key not in read:
                read[key] = self._read(key, self._empty(room))
            for tail in own:
                both = (key, tuple(tail))
                if both not in whole:
                    whole[both] = self._read(both[1], _copied(read[key], [0]))
                order.append(both)
        return Caches(
            [np.concatenate(parts) for parts in zip(*(whole[key].parts for key in order), strict=True)],
            np.concatenate([whole[key].lengths for key in order]),
        )

    def step(self, tokens: Integers, state: Caches) -> tuple[Floats, Caches]:
        return self._run(np.asarray(tokens, np.int64)[:, None], state, np.arange(len(tokens)))

    def reorder(self, state: Caches, rows: Sequence[int]) -> Caches:
        return _copied(state, rows)

    def likelihood(
        self, prompts: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        found = []
        for prompt, target in zip(prompts, targets, strict=True):
            ids = np.asarray([[*prompt, *target[:-1]]], np.int64)
            wanted = np.arange(len(prompt) - 1, ids.shape[1])
            logits, _ = self._run(ids, self._empty(ids.shape[1]), wanted)
            wide = logits.astype(np.float64)
            top = wide.max(1)
            likely = (
                wide[np.arange(len(target)), list(target)] - top - np.log(np.exp(wide - top[:, None]).sum(1))
            )
            found.append(likely.tolist())
        return found

    def _read(self, ids: Sequence[int], state: Caches) -> Caches:
        if not ids:
            return state
        return self._run(np.asarray([ids], np.int64), state, np.zeros(0, np.int64))[1]

    def _empty(self, room: int) -> Caches:
        shape = (1, self.heads, room, self.size)
        return Caches([np.zeros(shape, np.float32) for _ in self._caches], np.zeros(1, np.int32))

    def _run(self, ids: Integers, state: Caches, wanted: Integers) -> tuple[Floats, Caches]:
        """`ids` [B, T] follow what is cached. The caches are bound as inputs and outputs at once."""
        lengths = state.lengths + np.int32(ids.shape[1])
        total = int(lengths.max())
        if total > state.room:
            more = total - state.room + SLACK
            state = Caches(
                [np.pad(part, ((0, 0), (0, 0), (0, more), (0, 0))) for part in state.parts], state.lengths
            )
        binding = self.session.io_binding()
        binding.bind_cpu_input("ids", ids)
        binding.bind_cpu_input("lengths", lengths - np.int32(1))
        binding.bind_cpu_input("total", np.array([total], np.int32))
        binding.bind_cpu_input("wanted", wanted)
        kept = [onnxruntime.OrtValue.ortvalue_from_numpy(part) for part in state.parts]  # shares the memory
        for name, value in zip(self._caches, kept, strict=True):
            binding.bind_ortvalue_input(name, value)
            binding.bind_ortvalue_output(f"new.{name}", value)
        binding.bind_output("logits")
        self.session.run_with_iobinding(binding)
        return binding.get_outputs()[-1].numpy(), Caches(state.parts, lengths)


def _copied(state: Caches, rows: Sequence[int]) -> Caches:
    return Caches([part[list(rows)] for part in state.parts], state.lengths[list(rows)])


def open_adapted(
    folder: Path | str, *, threads: int | None = None, cache: Path | None = None
) -> CausalGenerator:
    """The adapter in a run's folder, joined with its base model and run in int8; the first time makes the graph."""
    folder = best(folder)
    card = read_card(folder)
    place = prepare(folder, card, cache or user_cache_path("allears") / "voices")
    tokenizer = LlamaTokenizer(Tokenizer.from_file(str(place / TOKENIZER_FILE)), card.end)
    layout = ChatLayout(tokenizer, card.frames, card.limits, card.context_turns, card.words)
    runtime = OnnxRuntime(open_graph(place / GRAPH_FILE, threads), longest=card.limits.response_tokens + 2)
    return CausalGenerator(runtime, card, layout)


def prepare(folder: Path, card: CausalCard, cache: Path) -> Path:
    """Where the graph of an adapter lies, made if it is not there yet; whole or absent, whoever else makes it too."""
    place = cache / _digest(folder, card)
    if (place / GRAPH_FILE).is_file():
        return place
    try:
        cache.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix="making-", dir=cache))
    except OSError as error:
        raise AllearsError(f"{cache}: the voice cannot be kept there ({error.strerror or error})") from error
    try:
        _make(folder, card, fresh)
        fresh.chmod(0o755)
        os.rename(fresh, place)
    except OSError as error:
        if not (place / GRAPH_FILE).is_file():  # else somebody was faster
            raise AllearsError(f"{place}: the voice cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return place


def _make(folder: Path, card: CausalCard, fresh: Path) -> None:
    try:
        from allears.runtime.adapter_file import read_adapter
        from allears.runtime.llama_graph import llama_graph
        from allears.runtime.onnx_weights import save
    except ImportError as error:
        raise AllearsError(
            f'a language model\'s voice needs {error.name}, which is not installed; run pip install "allears[llm]"'
        ) from error
    with _bar() as advance:
        learned = read_adapter(folder / WEIGHTS_FILE)
        advance("reading the weights")
        llama = read_llama(card.base)
        if len(llama.weights["model.embed_tokens.weight"]) != card.words:
            raise AllearsError(
                f"{folder}: the adapter belongs to another model than the {card.base!r} that is here"
            )
        advance("joining the adapter")
        llama = with_adapter(llama, learned, card.adapter["alpha"] / card.adapter["rank"])
        advance("rounding to int8")
        graph = llama_graph(
            llama,
            learned["strategies.weight"],
            learned["strategy_head.weight"],
            learned["strategy_head.bias"],
        )
        advance("writing")
        save(graph, fresh / GRAPH_FILE, largest_file=LARGEST_FILE)
        llama.tokenizer.save(str(fresh / TOKENIZER_FILE))


def _digest(folder: Path, card: CausalCard) -> str:
    """Of everything that the graph is made of. Base weights are told by their place and size: they are large."""
    digest = hashlib.sha256(GRAPH_VERSION.encode())
    for name in (MODEL_FILE, WEIGHTS_FILE):
        path = folder / name
        if not path.is_file():
            raise AllearsError(f"{path}: the adapter is missing or corrupt (no such file)")
        digest.update(path.read_bytes())
    base, file = place_of(card.base)
    files = [Path(base) / file] if file else sorted(Path(base).glob("*.safetensors"))
    for path in files:
        digest.update(f"{path.name} {path.stat().st_size}".encode())
    return digest.hexdigest()[:16]


@contextmanager
def _bar() -> Iterator[Callable[[str], None]]:
    """Shows what is being done, on standard error, where a person is watching: it takes some seconds, once."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("preparing the voice, once", total=4)

        def advance(what: str) -> None:
            bar.update(task, description=f"preparing the voice, once: {what}", advance=1)

        yield advance
