"""The chat at a terminal: prompt_toolkit reads, Rich prints. What is said and stored is the session's business."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import DummyHistory, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output
from prompt_toolkit.styles import Style
from rich.console import Console

from allears.chat import view
from allears.chat.commands import Commands
from allears.chat.loading import Loading
from allears.chat.session import ChatSession
from allears.errors import AllearsError
from allears.listener.contract import Responder
from allears.safety.replies import Help

QUESTION = "May I remember what you tell me about yourself when you come back? [y/N] "
_STYLE = Style.from_dict(
    {
        "prompt": f"ansi{view.YOU}",
        "hint": "ansibrightblack",
        "bottom-toolbar": "noreverse ansibrightblack",
    }
)
_PROMPT = FormattedText([("class:prompt", "› ")])
_HINT = FormattedText([("class:hint", "whatever is on your mind; /help for more")])


class Terminal:
    """`input` and `output` are for tests: without them it is the real terminal."""

    def __init__(
        self,
        session: ChatSession,
        loading: Loading[Responder],
        console: Console,
        *,
        why: bool = False,
        input: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self.session, self.loading, self.console, self.why = session, loading, console, why
        self.commands = Commands(session)
        self.reader: PromptSession[str] = PromptSession(
            history=InMemoryHistory(),  # what people tell is in no history file
            multiline=True,
            key_bindings=_keys(),
            completer=WordCompleter(self.commands.names, sentence=True),
            complete_while_typing=Condition(lambda: get_app().current_buffer.text.startswith("/")),
            reserve_space_for_menu=4,
            prompt_continuation="  ",
            style=_STYLE,
            input=input,
            output=output,
        )
        self._asker: PromptSession[str] = PromptSession(
            history=DummyHistory(), style=_STYLE, input=input, output=output
        )
        self._draft = ""  # what could not be answered, to be sent again
        self._on_the_way_out = False  # Ctrl-C was pressed once

    def run(self, *, people: Help) -> None:
        """Talk until the person leaves. `people` are those who help; they are named before the first talk."""
        try:
            if self.session.kept and self.session.first_time:
                self.console.print(view.what_this_is(people))
                if not self._ask_whether_to_remember():
                    return
            while self._turn():
                pass
        finally:
            problem = self.session.close()
            if problem:
                self.console.print(view.problem(f"What you said last is not stored: {problem}"))

    # --- one line

    def _turn(self) -> bool:
        """Read a line and do what it says. False when the person leaves."""
        try:
            line = self._read()
        except EOFError:
            return False
        except KeyboardInterrupt:
            return self._interrupted()
        self._on_the_way_out = False
        if not line.strip():
            return True
        answer = self.commands.run(line)
        if answer is None:
            return self._answer(line)
        self.console.print(answer.shown)
        return not answer.leave

    def _answer(self, message: str) -> bool:
        try:
            self._wait_for_the_listener()
        except KeyboardInterrupt:
            self._draft = message
            return self._interrupted()
        with _later() as pressed:
            try:
                said = self.session.say(message)
            except AllearsError as error:
                self.console.print(view.problem(str(error)))
                self._draft = message
                return True
            self.console.print(view.reply(said.text))
            if said.not_stored:
                told = "This is not stored yet; I will try again with your next message. "
                self.console.print(view.problem(told + said.not_stored))
            if self.why:
                self.console.print(view.note(view.in_short(said.why)))
        return self._interrupted(pressed()) if pressed() else True

    def _interrupted(self, times: int = 1) -> bool:
        """Twice in a row leaves."""
        if self._on_the_way_out or times > 1:
            return False
        self._on_the_way_out = True
        self.console.print(view.note("Ctrl-C once more leaves; or go on writing."))
        return True

    # --- reading

    def _read(self) -> str:
        draft, self._draft = self._draft, ""
        ready = self.loading.wait(0)
        # as attributes: `prompt` takes a None for "as it was"
        self.reader.placeholder = None if self.session.turns else _HINT
        self.reader.bottom_toolbar = None if ready else self._progress
        self.reader.refresh_interval = 0 if ready else 0.5
        return self.reader.prompt(_PROMPT, default=draft, pre_run=self._leave_if_loading_fails)

    def _progress(self) -> str:
        return f"  {self.loading.progress}" if self.loading.progress else ""

    def _leave_if_loading_fails(self) -> None:
        """Nobody should write a long message to a listener that is not there."""
        app = get_app()
        loop = app.loop
        assert loop is not None

        def leave(error: BaseException) -> None:
            if app.future is not None and not app.future.done():
                app.exit(exception=error)

        self.loading.when_it_fails(lambda error: _soon(loop.call_soon_threadsafe, leave, error))

    def _wait_for_the_listener(self) -> None:
        """Raises what went wrong with loading: without a listener there is no chat."""
        self.loading.when_it_fails(None)
        if not self.loading.wait(0.3):  # a moment needs no explanation
            with self.console.status("one moment", spinner="dots") as status:
                while not self.loading.wait(0.1):
                    status.update(self.loading.progress or "one moment")
        self.loading.get()

    def _ask_whether_to_remember(self) -> bool:
        """Once. False when the person leaves instead.

        Whoever just begins to talk said nothing about it, so that is a no, and their words are not lost.
        """
        try:
            answer = self._asker.prompt(FormattedText([("class:prompt", QUESTION)])).strip()
        except (EOFError, KeyboardInterrupt):
            return False
        agreed = answer.lower() in ("y", "yes", "yes please", "sure", "ok")
        if agreed:
            self.session.agree(True)
            self.console.print(view.note("I will. /persona shows what I know, /forget removes it."))
        else:
            self.console.print(view.note("Then I will not. /consent yes changes that at any time."))
        self.session.begin()
        if not agreed and answer.lower() not in ("", "n", "no", "no thanks", "nope"):
            self._draft = answer
        return True


def _keys() -> KeyBindings:
    """Enter sends; Alt-Enter makes a new line."""
    keys = KeyBindings()

    @keys.add("enter")
    def send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


def _soon(schedule: Callable[..., object], call: Callable[..., None], error: BaseException) -> None:
    try:
        schedule(call, error)
    except RuntimeError:  # the prompt is over already: whoever answers next meets the error
        return


@contextmanager
def _later() -> Iterator[Callable[[], int]]:
    """Ctrl-C waits until a message is answered and stored: it takes a moment, and half of it would be worse.

    Hands out how often it was pressed.
    """
    pressed = 0

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed += 1

    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's
        yield lambda: pressed
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)
