"""`allears chat`: talk in the terminal, or through a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from allears.chat.loading import GETTING_READY, Loading, Watch
from allears.cli.options import Bundle, flag, optional, value
from allears.cli.output import console, say
from allears.errors import AllearsError

if TYPE_CHECKING:
    from allears.chat.session import ChatSession
    from allears.listener.contract import Responder

_note = partial(say, style="dim")


def chat(
    *,
    bundle: Bundle = "default",
    pool: list[Path] = value(
        [], "Replies of your own (.jsonl) beside the shipped ones; may be given several times."
    ),
    voice: str | None = optional(
        "Who answers: `default`, `small`, `chosen` (replies written beforehand), `remote`, `ollama:NAME`, "
        "`openai:URL#MODEL`, `hf:NAME`, a .gguf file, or a generator's run folder. Left out: what "
        "`allears voice use` was told last."
    ),
    drafts: int | None = optional(
        "How many drafts of a reply the voice may write; the best is said. Default: the voice's own number.",
        min=1,
    ),
    resume: str | None = optional("Go on with a conversation: its id, or `last`."),
    no_memory: bool = flag("--no-memory", "Keep nothing on the disk."),
    country: str | None = optional(
        "Whose help lines to name, as in GB; ZZ for international ones. A code that is not listed says which are. "
        "Default: your locale's."
    ),
    seed: int = value(0, "0 says the best reply; others vary, each in its own way.", min=0),
    as_json: bool = flag("--json", "A line of JSON per reply, for machines."),
    why: bool = flag("--why", "Below each reply: the feeling heard, and what the reply tries."),
    commands: bool = flag(
        "--commands", "In a pipe, too, obey lines such as /why; otherwise all are messages."
    ),
    prepare: bool = flag("--prepare", "Get the replies ready, which happens once, and leave."),
) -> None:
    """Talk to a listener that runs on this machine, keeps what you say to itself, and can say why it answered so.

    \b
    allears chat
    allears chat --resume last --why
    allears chat --voice small --drafts 3
    echo "My dog is ill." | allears chat --json
    printf "My dog is ill.\\n/why\\n" | allears chat --commands
    """
    from allears.runtime.voice_choice import chosen_voice

    named = voice or chosen_voice()
    if prepare:
        from allears.cli.progress import watched

        open_listener(bundle, pool, country, watched, named, drafts)
        _note("the replies are ready")
        return
    if no_memory and resume is not None:
        raise AllearsError(
            "--resume goes on with a stored conversation, and --no-memory has none; leave one of them out"
        )
    if country is not None:
        from allears.safety.replies import help_for

        help_for(country)  # a country without help lines is an error now, not in the moment they are needed
    loading = Loading(lambda watch: open_listener(bundle, pool, country, watch, named, drafts))
    code = 1
    try:
        code = _talk(loading, resume, no_memory, country, seed, as_json, why, commands)
    finally:
        if not loading.stop():
            _leave_at_once(code)
    if code:
        raise typer.Exit(code)


def _leave_at_once(code: int) -> None:
    """Everything said is stored. A thread inside ONNX Runtime would crash Python's orderly way out."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def open_listener(
    bundle: str,
    pools: Sequence[Path],
    country: str | None,
    watch: Watch,
    voice: str = "default",
    drafts: int | None = None,
) -> Responder:
    from allears.listener.listener import Listener

    return Listener.from_bundle(bundle, pools=pools, country=country, watch=watch, voice=voice, drafts=drafts)


def _talk(
    loading: Loading[Responder],
    resume: str | None,
    no_memory: bool,
    country: str | None,
    seed: int,
    as_json: bool,
    why: bool,
    commands: bool,
) -> int:
    interactive = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    if interactive:
        console.print(
            "\n  [bold]I'm all ears.[/]  [dim]/help lists commands, Ctrl-D leaves[/]\n", highlight=False
        )
    # the rest is loaded while the greeting is read
    from allears.chat import view
    from allears.chat.session import ChatSession
    from allears.memory import Memory

    with Memory(":memory:" if no_memory else None) as memory:
        session = ChatSession(loading.get, memory, seed=seed, kept=not no_memory)
        if resume is not None:
            session.resume(resume)
        if not interactive:
            return _pipe(session, loading, as_json, why, commands)
        from allears.chat.terminal import Terminal
        from allears.safety.replies import help_for

        if resume is not None:
            console.print(view.where_we_were(session.turns))
        Terminal(session, loading, console, why=why).run(people=help_for(country))
        again = "" if no_memory or not session.turns else " `allears chat --resume last` goes on from here."
        console.print(view.note(f"Take care.{again}"))
        return 0


def _pipe(session: ChatSession, loading: Loading[Responder], as_json: bool, why: bool, commands: bool) -> int:
    from allears.chat.commands import Commands
    from allears.chat.lines import answer_lines

    told = False
    while not loading.wait(0.1):
        if loading.progress and not told:
            told = True
            _note(GETTING_READY)
    loading.get()  # a listener that cannot be loaded is one error, not one per line
    obeyed = Commands(session) if commands else None
    return answer_lines(
        sys.stdin.buffer, session, write=_write, note=_note, as_json=as_json, why=why, commands=obeyed
    )


def _write(line: str) -> None:
    sys.stdout.buffer.write(line.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()
