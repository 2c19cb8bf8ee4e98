"""llama.cpp, opened on one model file: one text at a time, piece by piece, in the order that it was asked for."""

from __future__ import annotations

import os
import secrets
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from allears.errors import AllearsError
from allears.runtime.machine import free_memory, physical_cores

MOST_THREADS = 4
PROMPT_STEP = 32  # tokens of a prompt that are read at once; between two steps it can be cancelled
SLOTS = 4  # conversations whose beginnings are kept; together they fill one context
GOES_ON = 0.5  # of what a slot read is the beginning of a prompt: the same conversation
POLL = 0.05  # seconds
Cancelled = Callable[[], bool]


class PromptTooLongError(AllearsError):
    """The prompt does not fit the context; a shorter one may do."""


@dataclass(frozen=True, slots=True)
class GgufOptions:
    """A model file and how it is run.

    `adapter`: a low-rank adapter (GGUF) that is laid over it. `context`: tokens of prompt and reply together.
    `threads`: left out, one for each physical core, at most four. `reproducible`: read every prompt from its first
    word; otherwise the beginning that was read before is used again, which is faster and changes the last digits.
    """

    model: Path
    adapter: Path | None = None
    context: int = 2048
    threads: int | None = None
    reproducible: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """Some letters as they were written. `finish`: "stop" or "length" with the last one."""

    text: str
    log_probability: float = 0.0
    finish: str | None = None
    timings: Mapping[str, Any] | None = None  # llama.cpp's own, with the last one


class GgufEngine:
    def __init__(self, options: GgufOptions, *, show_marks: bool):
        """
        Args:
            show_marks: Write the layout's own marks (<|im_end|>) as text, so that stop strings find them.
        """
        self.options = options
        check_files(options)
        check_memory(options.model)
        self._opened = _Opened(_start(options, show_marks), options.model.name)
        weakref.finalize(self, self._opened.close)  # also before the interpreter ends

    def pieces(
        self, body: Mapping[str, Any], *, chat: bool = False, cancelled: Cancelled | None = None
    ) -> Iterator[Piece]:
        """What llama.cpp writes for a request in its server's own words.

        Args:
            body: Of `/v1/completions`, or with `chat` of `/v1/chat/completions`.
            cancelled: Asked between two tokens, from another thread too; once it says yes nothing more is written.
        """
        stop = threading.Event()
        found: SimpleQueue[Piece | BaseException | None] = SimpleQueue()

        def over() -> bool:
            return stop.is_set() or (cancelled is not None and cancelled())

        worker = threading.Thread(
            target=self._opened.work, args=(dict(body), chat, over, found), name="llama.cpp", daemon=True
        )
        worker.start()
        try:
            while True:
                try:
                    piece = found.get(timeout=POLL)
                except Empty:
                    if over():
                        return
                    continue
                if isinstance(piece, BaseException):
                    raise piece
                if piece is None or over():
                    return
                yield piece
        finally:
            stop.set()
            worker.join()

    def close(self) -> None:
        """Give the memory back. What is being written is broken off."""
        self._opened.close()


class _Opened:
    """The running server; apart from the engine, so that it can be closed when nobody holds the engine any more."""

    def __init__(self, server: Any, name: str):
        self.server: Any = server
        self.name = name
        self.closed = threading.Event()
        self.turns = _Turns()
        self.read = [""] * SLOTS  # what each slot read last,
        self.oldest = list(range(SLOTS))  # and who of them has rested longest, first

    def work(
        self,
        body: dict[str, Any],
        chat: bool,
        over: Cancelled,
        found: SimpleQueue[Piece | BaseException | None],
    ) -> None:
        try:
            with self.turns.taken(lambda: over() or self.closed.is_set()) as mine:
                if mine:
                    self._write(body, chat, over, found)
                elif self.closed.is_set():
                    raise AllearsError("this voice was closed; open it again")
        except BaseException as error:  # raised again where the pieces are read
            found.put(error)
        finally:
            found.put(None)

    def _write(
        self,
        body: dict[str, Any],
        chat: bool,
        over: Cancelled,
        found: SimpleQueue[Piece | BaseException | None],
    ) -> None:
        trouble: list[BaseException] = []
        ended = False

        def on_chunk(chunk: dict[str, Any]) -> bool:
            nonlocal ended
            try:
                if "error" in chunk:
                    raise _refusal(chunk["error"])
                if (piece := _piece(chunk)) is not None:
                    found.put(piece)
                    ended = piece.finish is not None
                return over() or self.closed.is_set()
            except BaseException as error:  # llama.cpp would drop it
                trouble.append(error)
                return True

        ask = self.server.handle_chat_completions if chat else self.server.handle_completions
        slot = self._slot(str(body["messages" if chat else "prompt"]))
        ask({**body, "id_slot": slot, "stream": True, "return_progress": True}, on_chunk)
        if trouble:
            raise trouble[0]
        if self.closed.is_set():
            raise AllearsError("this voice was closed while it was writing")
        if not ended and not over():
            raise AllearsError(f"llama.cpp broke off in the middle of a reply; open {self.name} again")

    def _slot(self, text: str) -> int:
        """Where the conversation goes on, or the one that rested longest."""
        same = [_shared(text, each) / max(1, len(each)) for each in self.read]
        best = max(range(SLOTS), key=same.__getitem__)
        slot = best if same[best] >= GOES_ON else self.oldest[0]
        self.oldest.remove(slot)
        self.oldest.append(slot)
        self.read[slot] = text
        return slot

    def close(self) -> None:
        self.closed.set()
        with self.turns.taken(lambda: False):
            self.server = None


class _Turns:
    """One at a time, in the order of coming."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()

    @contextmanager
    def taken(self, over: Cancelled) -> Iterator[bool]:
        """Waits until it is the caller's turn, and says whether it is: `over` breaks the waiting off."""
        ticket = object()
        with self._changed:
            self._waiting.append(ticket)
        try:
            yield self._wait(ticket, over)
        finally:
            with self._changed:
                self._waiting.remove(ticket)
                self._changed.notify_all()

    def _wait(self, ticket: object, over: Cancelled) -> bool:
        with self._changed:
            while self._waiting[0] is not ticket:
                if over():
                    return False
                self._changed.wait(POLL)
        return not over()


def check_files(options: GgufOptions) -> None:
    for path in (options.model, options.adapter):
        if path is None:
            continue
        if not path.is_file():
            raise AllearsError(f"{path}: no such file")
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise AllearsError(f"{path} is not a GGUF file, the kind that llama.cpp reads")


def check_memory(model: Path) -> None:
    """Refuse before the machine begins to swap, or the system ends the process."""
    needed, free = int(1.3 * model.stat().st_size) + 300 * 2**20, free_memory()
    if free is not None and free < needed:
        raise AllearsError(
            f"{model.name} needs about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free; close other "
            "programs, or choose a smaller voice (allears voice list)"
        )


def import_llama() -> Any:
    """The bindings. Their threads sleep while they wait: awake ones stand still for seconds on a busy machine."""
    before = os.environ.get("OMP_WAIT_POLICY")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # read once, when the library is loaded
    try:
        import xllamacpp
    except ImportError as error:
        hint = "apt install libgomp1" if "libgomp" in str(error) else "pip install xllamacpp"
        raise AllearsError(f"llama.cpp cannot be loaded ({error}); run: {hint}") from error
    finally:
        if before is None:
            os.environ.pop("OMP_WAIT_POLICY", None)
    return xllamacpp


def _start(options: GgufOptions, show_marks: bool) -> Any:
    llama = import_llama()
    params = llama.CommonParams()
    params.model.path = str(options.model)
    if options.adapter is not None:
        params.lora_adapters = [llama.CommonAdapterLoraInfo(str(options.adapter), 1.0)]
    threads = options.threads or min(physical_cores(), MOST_THREADS)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_ctx, params.n_parallel, params.kv_unified = options.context, SLOTS, True
    params.n_batch = params.n_ubatch = PROMPT_STEP
    params.cache_ram_mib = 0  # it would not bring a long conversation back after a short one
    params.special = show_marks
    params.warmup, params.verbosity = False, 0
    # The bindings always listen on a free port of this machine; nobody but us may ask there, or look on.
    params.api_keys = [secrets.token_hex(16)]
    params.cors_origins, params.ui, params.endpoint_slots = "", False, False
    try:
        return llama.Server(params)
    except RuntimeError as error:
        laid = f" with the adapter {options.adapter}" if options.adapter else ""
        raise AllearsError(
            f"llama.cpp cannot open {options.model}{laid}; the file may be incomplete, or of a kind that it does not "
            "know, or the adapter may belong to another model"
        ) from error


def _piece(chunk: dict[str, Any]) -> Piece | None:
    """The letters of a chunk; None where it only says how far the prompt is."""
    choice = chunk["choices"][0] if chunk.get("choices") else {}
    text = choice.get("text") or choice.get("delta", {}).get("content") or ""
    told = (choice.get("logprobs") or {}).get("content") or []
    finish = choice.get("finish_reason")
    if not (text or told or finish):
        return None
    return Piece(text, sum(each["logprob"] for each in told), finish, chunk.get("timings"))


def _shared(left: str, right: str) -> int:
    """How many letters both begin with."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(left), len(right)))


def _refusal(error: Mapping[str, Any]) -> AllearsError:
    said = " ".join(str(error.get("message", error)).split())
    kind = PromptTooLongError if error.get("type") == "exceed_context_size_error" else AllearsError
    return kind(f"llama.cpp refused the request ({said})")
