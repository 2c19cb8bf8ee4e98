"""Something slow, loaded in a thread while a person reads the greeting or types."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

Loaded = TypeVar("Loaded")
Watch = Callable[[Sequence[Any], str], Iterator[Any]]

GETTING_READY = "getting the replies ready (once, about half a minute)"


class _StoppedError(Exception):
    """Nobody waits any more."""


class Loading(Generic[Loaded]):
    """Begins at once. `load` is handed a `watch` that notes how far it got."""

    def __init__(self, load: Callable[[Watch], Loaded]) -> None:
        self._load = load
        self._result: Loaded | None = None
        self._error: BaseException | None = None
        self._on_failure: Callable[[BaseException], None] | None = None
        self._progress = ""
        self._stopping = threading.Event()
        self._done = threading.Event()
        self._lock = threading.Lock()
        # a daemon: leaving waits for it a little (`stop`), not until the last reply is encoded
        self._thread = threading.Thread(target=self._run, name="loading", daemon=True)
        self._thread.start()

    @property
    def progress(self) -> str:
        """What takes long, and how far it is; an empty text when nothing does."""
        return "" if self._done.is_set() else self._progress

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it is done, one way or the other."""
        return self._done.wait(seconds)

    def get(self) -> Loaded:
        """What was loaded, when it is. Raises what went wrong."""
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]  # set before `_done`

    def when_it_fails(self, call: Callable[[BaseException], None] | None) -> None:
        """Call this as soon as loading fails (at once if it has), from whatever thread. None: nobody wants to know."""
        with self._lock:
            self._on_failure = call
            failed = self._error
        if failed is not None and call is not None:
            call(failed)

    def stop(self, seconds: float = 5.0) -> bool:
        """Leave off at the next step, and wait for that a little. Whether it came to an end."""
        self._stopping.set()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._result = self._load(self._watch)
        except BaseException as error:  # whatever it is, it belongs to whoever waits in `get`
            with self._lock:
                self._error = error
                call = self._on_failure
            self._done.set()
            if call is not None and not isinstance(error, _StoppedError):
                call(error)
        self._done.set()

    def _watch(self, items: Sequence[Any], what: str) -> Iterator[Any]:
        for number, item in enumerate(items):
            if self._stopping.is_set():
                raise _StoppedError
            self._progress = f"{GETTING_READY} {100 * number // len(items)}%"
            yield item
        self._progress = ""
