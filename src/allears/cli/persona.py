"""`allears persona`: who somebody is, from what they say."""

from __future__ import annotations

import sys
from pathlib import Path

import typer
from rich.text import Text

from allears.cli import options
from allears.cli.options import argument, flag, optional, value
from allears.cli.output import console, count_of, print_json, say
from allears.errors import AllearsError
from allears.evaluation.people import PersonLearned, learn_people
from allears.models.extractor.loading import DEFAULT
from allears.personas.said import SourceText, conversations_in, read_said

app = typer.Typer(
    help="Learn who somebody is from what they say.", no_args_is_help=True, rich_markup_mode="markdown"
)


@app.callback()
def persona() -> None:
    """Learn who somebody is from what they say."""


@app.command("extract")
def extract(
    file: str = argument(
        "A text with one utterance a line, conversations as .json or .jsonl, or - for standard input."
    ),
    *,
    model: str = value(
        DEFAULT,
        "A trained extractor's run folder, a bundle with one, `default` (the bundle that ships with allears), "
        "or `copy` (first-person sentences as they are).",
    ),
    encoder: str | None = optional(
        "Also join sentences that say the same in other words, by this sentence encoder: a hub name, a "
        "folder, or a bundle."
    ),
    device: options.Device = "cpu",
    as_json: bool = flag("--json", "Print a line of JSON per person instead."),
) -> None:
    """What somebody's own words tell about them, in the first person, with the turn that said so.

    Of conversations only the seeker's turns are read. What is said again is joined, and what contradicts something
    older takes its place and is shown as a change.

    Examples:

        echo "I'm studying to be a pharmacist." | allears persona extract - --model runs/persona-extractor

        allears persona extract talks.jsonl --model runs/persona-extractor --json
    """
    said = SourceText(sys.stdin.buffer.read().decode("utf-8", "replace"), "-") if file == "-" else _file(file)
    for person in learn_people(conversations_in(said), model, encoder, device):
        if as_json:
            print_json(person.record(), ascii_only=False)
            continue
        if person.is_one_of_several:
            name = f"{person.conversation.id}, {person.name}"
            console.print(name, style="bold", highlight=False, markup=False)
        _show(person)


@app.command("label")
def label(
    teacher: Path = argument("The run folder of recipes/persona-teacher.toml."),
    *,
    out: Path = value(..., "The file to write, .jsonl or .jsonl.gz.", show_default=False),
    root: str | None = value(None, "Where the corpora are; default: ALLEARS_DATA."),
    limit: int = value(0, "Utterances of each corpus, a seeded sample; 0: all.", min=0),
    seed: int = typer.Option(1),
    device: options.Device = "cpu",
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


def _show(person: PersonLearned) -> None:
    for sentence in person.known.persona.sentences:
        console.print(Text.assemble((f"{sentence.source:>8}  ", "dim"), sentence.text), soft_wrap=True)
    for change in person.known.changes:
        text = f"changed ({change.reason}): {change.old.text} → {change.new.text}"
        console.print(Text.assemble((f"{change.source:>8}  ", "dim"), text), soft_wrap=True)
    for remark in _remarks(person):
        say(remark, "dim")


def _remarks(person: PersonLearned) -> list[str]:
    found, remarks = person.found, []
    if not person.known.persona.sentences:
        remarks.append(f"nothing in {count_of(person.turns, 'turn')} tells who this person is")
    if found.unread:
        remarks.append(f"{count_of(len(found.unread), 'turn')} not read: the extractor knows English only")
    if found.dropped:
        doubts = ", ".join(f"{count} {reason}" for reason, count in found.doubts.items())
        dropped = count_of(len(found.dropped), "sentence")
        remarks.append(f"{dropped} dropped after a look at the turn: {doubts}")
    return remarks
