"""One reply of a voice to each of 100 conversations of our own, to be read; and what can be counted alone.

    python benchmarks/read_voices.py default --out replies.jsonl          # the small voice of the default bundle
    python benchmarks/read_voices.py smollm2 --out replies.jsonl --seed 1
    python benchmarks/read_voices.py runs/voice --out replies.jsonl       # a run folder, or another bundle
    python benchmarks/read_voices.py default --marks                      # what a reader made of those of both voices

The voice is asked as the listener asks it: the same settings, as many proposals, strategies by the stage of the talk
(the voice's own leaning stands in for the reader's), the mood as the default bundle reads it, and what cannot be said
is refused. Of what is left the first is the reply; nothing is ranked, so that the voice is read and not CoBERT.

The conversations (`voice_contexts.jsonl`) were made up for this and belong to no corpus. `voice_marks.json` holds what
a reader marked, by number of the conversation, from 0: before and after the largest class of faults was mended. The
mend was made on these conversations; `voice_contexts_unseen.jsonl` has 25 others (read with `--seed 500`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allears.conversation import Persona, PersonaSentence, Role, Turn
from allears.errors import AllearsError
from allears.listener.contract import Likely, Request
from allears.listener.senses import EMOTION, mood
from allears.listener.speaking import Speaker
from allears.listener.stages import stage, strategies
from allears.listener.unfit import greets
from allears.listener.voices import Voice, open_voice
from allears.listener.wording import overlap, words
from allears.runtime.generator import ChoosesStrategy, Prompt
from allears.runtime.onnx_reader import OnnxReader
from allears.safety.review import review

HERE = Path(__file__).parent
CONTEXTS, MARKS = HERE / "voice_contexts.jsonl", HERE / "voice_marks.json"
ALIKE = 0.999  # of the shorter reply's words are also in the other
RUN = 4  # words in a row


@dataclass(frozen=True, slots=True)
class Context:
    """Something said to a listener: the last turn is the person's."""

    turns: tuple[Turn, ...]
    persona: tuple[str, ...]
    emotion: str


def read_contexts(path: Path) -> list[Context]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            entry = json.loads(line)
            said = entry["turns"]
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise AllearsError(
                f'{path}, line {number}: write {{"turns": [...], "persona": [...]}} ({error!r})'
            ) from error
        # the person speaks last, so who began depends on how many turns there are
        roles = [
            Role.SUPPORTER if (len(said) - place) % 2 == 0 else Role.SEEKER for place in range(len(said))
        ]
        turns = tuple(Turn(role, text) for role, text in zip(roles, said, strict=True))
        found.append(Context(turns, tuple(entry.get("persona", ())), entry.get("emotion", "")))
    return found


def mood_of(context: Context, reader: OnnxReader) -> Likely:
    """What the person feels, turn by turn as the listener follows it."""
    found: Likely = ()
    for turn in context.turns:
        if turn.speaker is Role.SEEKER:
            read = tuple(reader.read([turn], k=32)[EMOTION])
            found = mood(read, dict(found), turn.text)
    return found


def request_of(context: Context, voice: Voice, reader: OnnxReader, seed: int) -> Request:
    """What the listener would ask of the voice."""
    emotions = mood_of(context, reader)
    persona = Persona(tuple(PersonaSentence(text) for text in context.persona))
    at = stage(context.turns, emotions)
    leaning: tuple[tuple[str, float], ...] = ()
    if isinstance(voice.generator, ChoosesStrategy):
        (leaning,) = voice.generator.strategies([Prompt(context.turns, context.persona)])
    return Request(context.turns, persona, emotions, strategies(leaning, at, context.turns), at, seed)


def write_all(
    voice: Voice, reader: OnnxReader, contexts: Sequence[Context], seed: int
) -> list[dict[str, Any]]:
    speaker, rows = Speaker(voice), []
    for number, context in enumerate(contexts):
        spoken = speaker.write(request_of(context, voice, reader, seed + number))
        if spoken.trouble:
            raise AllearsError(spoken.trouble)
        kept = spoken.proposed.proposals
        rows.append(
            {
                "number": number,
                "emotion": context.emotion,
                "turns": [turn.text for turn in context.turns],
                "persona": list(context.persona),
                "reply": kept[0].text if kept else "",
                "strategy": kept[0].strategy if kept else "",
                "others": [proposal.text for proposal in kept[1:]],
                "refused": list(spoken.refused),
            }
        )
    return rows


def _runs(text: str) -> list[tuple[str, ...]]:
    said = words(text)
    return [tuple(said[place : place + RUN]) for place in range(len(said) - RUN + 1)]


def faults(row: dict[str, Any]) -> list[str]:
    """What is wrong with a reply as far as no reader is needed."""
    text, found = row["reply"], []
    if not text:
        return ["nothing to say"]
    if len(words(text)) < 3:
        found.append("shorter than three words")
    own = _runs(text)
    if len(set(own)) < len(own):
        found.append("repeats itself")
    heard = {run for said in row["turns"][::-2] for run in _runs(said)}
    if any(run in heard for run in own):
        found.append("four words of the person's in a row")
    said = {run for earlier in row["turns"][-2::-2] for run in _runs(earlier)}
    if any(run in said for run in own):
        found.append("four words of an earlier reply in a row")
    if not review(text).ok:
        found.append("refused by the review")
    if greets(text) and len(row["turns"]) > 1:
        found.append("greets in the middle")
    return found


def counts(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    found = Counter(fault for row in rows for fault in faults(row))
    texts = [row["reply"] for row in rows if row["reply"]]
    found["like an earlier one"] = sum(
        any(overlap(text, other) >= ALIKE for other in texts[:place]) for place, text in enumerate(texts)
    )
    found["proposals refused"] = sum(len(row["refused"]) for row in rows)
    found["proposals"] = sum(len(row["refused"]) + len(row["others"]) + bool(row["reply"]) for row in rows)
    found["words"] = sum(len(words(text)) for text in texts)
    return dict(found)


def marks_table(path: Path) -> str:
    """The marks of every voice in Markdown."""
    marks: dict[str, dict[str, dict[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))["voices"]
    columns = [(voice, when) for voice, times in marks.items() for when in times]
    names = list(dict.fromkeys(name for voice, when in columns for name in marks[voice][when]["counts"]))
    head = ["", *(f"{voice}, {when}" for voice, when in columns)]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for name in names:
        cells = [str(marks[voice][when]["counts"].get(name, 0)) for voice, when in columns]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("voice", help="default, smollm2, remote, a bundle or the run folder of a generator")
    parser.add_argument("--out", type=Path, help="where the replies go, one JSON object a line")
    parser.add_argument("--contexts", type=Path, default=CONTEXTS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--marks", action="store_true", help="only print what readers marked")
    asked = parser.parse_args()
    if asked.marks:
        print(marks_table(MARKS))
        return 0
    try:
        voice = open_voice(asked.voice, threads=1)
        if voice.generator is None:
            raise AllearsError(f"{asked.voice}: this voice writes nothing; there is nothing to read")
        reader = OnnxReader.from_bundle(threads=1)
        rows = write_all(voice, reader, read_contexts(asked.contexts), asked.seed)
    except AllearsError as error:
        print(error, file=sys.stderr)
        return 2
    if asked.out:
        asked.out.write_text(
            "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8"
        )
    print(f"{voice.name}: {len(rows)} conversations, seed {asked.seed}")
    for name, number in sorted(counts(rows).items(), key=lambda item: -item[1]):
        print(f"{number:6}  {name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
