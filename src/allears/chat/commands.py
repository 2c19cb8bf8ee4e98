"""What a line that begins with a slash does. Every command is a function of the session; its answer can be printed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType

from allears.chat import view
from allears.chat.session import ChatSession
from allears.chat.transcript import save
from allears.chat.why_view import why
from allears.errors import AllearsError

_COMMAND = re.compile(r"/(?P<name>[a-z?]*)(?:\s+(?P<rest>.*))?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What to show; `leave` ends the chat."""

    shown: RenderableType
    leave: bool = False


class Commands:
    """All commands of one chat."""

    def __init__(self, session: ChatSession) -> None:
        self.session = session
        self._saved: set[Path] = set()  # files of this chat, which a later /save may write again
        self._known: dict[str, tuple[str, str, Callable[[str], CommandAnswer]]] = {
            "why": ("/why", "what is behind the last reply", self._why),
            "persona": ("/persona", "what is noted about you; also: edit 2 TEXT, add TEXT", self._persona),
            "forget": (
                "/forget 2 | that | all",
                "forget a note, your last message's, or all notes",
                self._forget,
            ),
            "undo": ("/undo", "take back your last message and its answer", self._undo),
            "save": ("/save FILE", "this conversation as .json or .md", self._save),
            "new": ("/new", "begin another conversation", self._new),
            "list": ("/list", "your conversations", self._list),
            "resume": ("/resume ID", "go on with one of them, or with the last", self._resume),
            "consent": ("/consent yes | no", "may I remember you in later conversations?", self._consent),
            "help": ("/help", "this list", self._help),
            "quit": ("/quit", "leave", self._quit),
        }

    @property
    def names(self) -> list[str]:
        return [f"/{name}" for name in self._known]

    def run(self, line: str) -> CommandAnswer | None:
        """The answer to a command, or None where the line is no command: "/r/books is kind" is something said."""
        found = _COMMAND.fullmatch(line.strip())
        if found is None:
            return None
        name, rest = found["name"].lower(), (found["rest"] or "").strip()
        if name in ("", "?"):
            name = "help"
        if name == "exit":
            name = "quit"
        if name not in self._known:
            near = difflib.get_close_matches(name, self._known, n=1, cutoff=0.5)
            hint = f"Did you mean /{near[0]}?" if near else "/help lists them."
            return CommandAnswer(view.problem(f"There is no command /{name}. {hint}"))
        try:
            return self._known[name][2](rest)
        except AllearsError as error:
            return CommandAnswer(view.problem(str(error)))

    # --- one method per command

    def _why(self, rest: str) -> CommandAnswer:
        return CommandAnswer(why(self.session.why))

    def _persona(self, rest: str) -> CommandAnswer:
        verb, _, words = rest.partition(" ")
        words = words.strip()
        if verb == "edit":
            number, _, text = words.partition(" ")
            self.session.edit_persona(_number(number, "/persona edit 2 I live in Ghent."), text)
        elif verb == "add":
            if not words:
                raise AllearsError("Say what to note, for example: /persona add I work nights.")
            self.session.add_persona(words)
        elif verb:
            raise AllearsError(
                "/persona shows the notes; /persona edit 2 TEXT and /persona add TEXT change them."
            )
        return CommandAnswer(self._notes())

    def _forget(self, rest: str) -> CommandAnswer:
        if rest == "all":
            count = self.session.forget_all()
            told = (
                f"Forgotten: all that was noted about you ({count})."
                if count
                else "Nothing was noted about you."
            )
            return CommandAnswer(view.note(f"{told} Your conversations are still in /list."))
        if rest in ("that", ""):
            gone = self.session.forget_last()
            if not gone:
                hint = (
                    " /persona lists what is, and /forget 2 forgets the second."
                    if self.session.persona()
                    else ""
                )
                return CommandAnswer(view.note(f"Nothing was noted from your last message.{hint}"))
            return CommandAnswer(view.note("Forgotten: " + " ".join(gone)))
        gone_text = self.session.forget(_number(rest, "/forget 2, /forget that or /forget all"))
        return CommandAnswer(Group(view.note(f"Forgotten: {gone_text}"), self._notes()))

    def _undo(self, rest: str) -> CommandAnswer:
        message = view.one_line(self.session.undo())
        return CommandAnswer(view.note(f"Taken back: “{message}”, and my answer to it."))

    def _save(self, rest: str) -> CommandAnswer:
        if not rest:
            raise AllearsError("Name a file that ends in .json or .md, for example: /save talk.md")
        path = Path(rest).expanduser().absolute()
        save(self.session.conversation, path, replace_it=path in self._saved)
        self._saved.add(path)
        return CommandAnswer(view.note(f"Saved as {path}."))

    def _new(self, rest: str) -> CommandAnswer:
        self.session.new()
        return CommandAnswer(view.note("A new conversation. /list has the others."))

    def _list(self, rest: str) -> CommandAnswer:
        return CommandAnswer(view.conversations(self.session.conversations(), self.session.id))

    def _resume(self, rest: str) -> CommandAnswer:
        if not rest:
            raise AllearsError("Say which: /resume last, or /resume with an id from /list.")
        return CommandAnswer(view.where_we_were(self.session.resume(rest).turns))

    def _consent(self, rest: str) -> CommandAnswer:
        if rest not in ("yes", "no"):
            now = "remember you" if self.session.agreed else "do not remember you"
            return CommandAnswer(
                view.note(f"I {now} in later conversations. /consent yes or /consent no changes that.")
            )
        self.session.agree(rest == "yes")
        if rest == "no":
            return CommandAnswer(view.note("I will not bring what you told me into other conversations."))
        if not self.session.kept:
            return CommandAnswer(view.note("Until you leave, I will: this chat keeps nothing (--no-memory)."))
        told = "From your next message on, I will remember what you tell me about yourself."
        return CommandAnswer(view.note(f"{told} /persona shows it, /forget removes it."))

    def _help(self, rest: str) -> CommandAnswer:
        return CommandAnswer(view.commands((usage, what) for usage, what, _ in self._known.values()))

    def _quit(self, rest: str) -> CommandAnswer:
        return CommandAnswer("", leave=True)

    def _notes(self) -> RenderableType:
        return view.persona(self.session.persona(), agreed=self.session.agreed)


def _number(text: str, example: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise AllearsError(f"Give the number of a note, for example: {example}")
    return int(text)
