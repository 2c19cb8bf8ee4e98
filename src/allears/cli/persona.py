"""`allears persona`: who somebody is, from what they say."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from allears.cli.output import console, errors
from allears.conversation import Conversation, Persona
from allears.errors import AllearsError
from allears.models.extractor.loading import DEFAULT, load_extractor
from allears.personas.memory import Merged, Similarity, merge
from allears.personas.provenance import Extraction, extract_persona, turns_by_person
from allears.personas.said import SourceText, conversations_in, read_said

app = typer.Typer(
    help="Learn who somebody is from what they say.", no_args_is_help=True, rich_markup_mode="markdown"
)


@app.callback()
def persona() -> None:
    """Learn who somebody is from what they say."""


@app.command("extract")
def extract(
    file: str = typer.Argument(
        help="A text with one utterance a line, conversations as .json or .jsonl, or - for standard input.",
        show_default=False,
    ),
    *,
    model: str = typer.Option(
        DEFAULT,
        "--model",
        help="A trained extractor's run folder, a bundle with one, `default` (the bundle that ships with allears), "
        "or `copy` (first-person sentences as they are).",
    ),
    encoder: str | None = typer.Option(
        None,
        "--encoder",
        help="Also join sentences that say the same in other words, by this sentence encoder: a hub name, a "
        "folder, or a bundle.",
        show_default=False,
    ),
    device: str = typer.Option("cpu", "--device", help="cpu or cuda."),
    as_json: bool = typer.Option(False, "--json", help="Print a line of JSON per person instead."),
) -> None:
    """What somebody's own words tell about them, in the first person, with the turn that said so.

    Of conversations only the seeker's turns are read. What is said again is joined, and what contradicts something
    older takes its place and is shown as a change.

    Examples:

        echo "I'm studying to be a pharmacist." | allears persona extract - --model runs/persona-extractor

        allears persona extract talks.jsonl --model runs/persona-extractor --json
    """
    said = SourceText(sys.stdin.buffer.read().decode("utf-8", "replace"), "-") if file == "-" else _file(file)
    conversations = conversations_in(said)
    extractor = load_extractor(model, device)
    similarity = _similarity(encoder, device)
    for conversation in conversations:
        for who, turns in turns_by_person(conversation).items():
            found = extract_persona(extractor, turns)
            known = merge(Persona(), found.kept, similarity=similarity)
            if as_json:
                typer.echo(
                    json.dumps(_plain(conversation, who, len(turns), found, known), ensure_ascii=False)
                )
                continue
            if len(conversations) > 1 or len(turns_by_person(conversation)) > 1:
                console.print(f"{conversation.id}, {who}", style="bold", highlight=False, markup=False)
            _show(found, known, len(turns))


@app.command("label")
def label(
    teacher: Path = typer.Argument(
        help="The run folder of recipes/persona-teacher.toml.", show_default=False
    ),
    *,
    out: Path = typer.Option(
        ..., "--out", help="The file to write, .jsonl or .jsonl.gz.", show_default=False
    ),
    root: str | None = typer.Option(None, "--root", help="Where the corpora are; default: ALLEARS_DATA."),
    limit: int = typer.Option(
        0, "--limit", min=0, help="Utterances of each corpus, a seeded sample; 0: all."
    ),
    seed: int = typer.Option(1, "--seed"),
    device: str = typer.Option("cpu", "--device", help="cpu or cuda."),
) -> None:
    """Let a teacher write down what utterances of all corpora at hand tell, for a small extractor to learn from.

    Only train splits are read, and of Multi-Session Chat only the dialogues that extractors are trained on.

    Example:

        allears persona label runs/persona-teacher --device cuda --out "$ALLEARS_DATA/told.jsonl.gz"
    """
    from allears.corpora import data_root
    from allears.models.runs import load_run
    from allears.training.persona.labelling import labelled, unlabelled, write_tellings

    opened = load_run(teacher, device, "allears.models.extractor.teacher")
    tellings = list(labelled(opened, unlabelled(data_root(root), limit, seed)))
    write_tellings(out, tellings)
    told = sum(bool(each.persona) for each in tellings)
    console.print(f"{out}: {len(tellings)} utterances, {told} of which tell something", highlight=False)


def _file(name: str) -> SourceText:
    if not Path(name).is_file():
        raise AllearsError(f"{name}: no such file; give a text, a .jsonl file, or - for standard input")
    return read_said(Path(name))


def _similarity(encoder: str | None, device: str) -> Similarity | None:
    if encoder is None:
        return None
    from allears.models.reader.sentence_encoder import similarity_by
    from allears.models.reader.sentence_loading import load_sentence_encoder

    return similarity_by(load_sentence_encoder(encoder, device))


def _plain(
    conversation: Conversation, who: str, turns: int, found: Extraction, known: Merged
) -> dict[str, Any]:
    return {
        "id": conversation.id,
        "person": who,
        "turns": turns,
        "persona": [{"text": each.text, "source": each.source} for each in known.persona.sentences],
        "changes": [change.to_dict() for change in known.changes],
        "dropped": dict(found.doubts),
        "unread": list(found.unread),
    }


def _show(found: Extraction, known: Merged, turns: int) -> None:
    for sentence in known.persona.sentences:
        console.print(Text.assemble((f"{sentence.source:>8}  ", "dim"), sentence.text), soft_wrap=True)
    for change in known.changes:
        console.print(
            Text.assemble(
                (f"{change.source:>8}  ", "dim"),
                f"changed ({change.reason}): {change.old.text} → {change.new.text}",
            ),
            soft_wrap=True,
        )
    for remark in _remarks(found, known, turns):
        errors.print(remark, style="dim", highlight=False, markup=False, soft_wrap=True)


def _remarks(found: Extraction, known: Merged, turns: int) -> list[str]:
    remarks = []
    if not known.persona.sentences:
        remarks.append(f"nothing in {_count(turns, 'turn')} tells who this person is")
    if found.unread:
        remarks.append(f"{_count(len(found.unread), 'turn')} not read: the extractor knows English only")
    if found.dropped:
        doubts = ", ".join(f"{count} {reason}" for reason, count in found.doubts.items())
        remarks.append(f"{_count(len(found.dropped), 'sentence')} dropped after a look at the turn: {doubts}")
    return remarks


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
