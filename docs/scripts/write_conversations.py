"""Writes docs/conversations.md: what the shipped listener answers to the scripted seekers.

python docs/scripts/write_conversations.py [--bundle FOLDER] [--voice NAME]
"""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path

from allears.listener import Listener

HERE = Path(__file__).parent
HEAD = """# Eight conversations

Written by `python docs/scripts/write_conversations.py --voice {voice}` with the shipped bundle. The seekers' lines are
scripted (`docs/scripts/conversations.toml`); every answer is the listener's own, seed 0, first try. In small print: the
emotion it read, and the strategy of its reply.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bundle", default="default")
    parser.add_argument("--voice", default="default")
    parser.add_argument("--out", type=Path, default=HERE.parent / "conversations.md")
    arguments = parser.parse_args()
    listener = Listener.from_bundle(arguments.bundle, voice=arguments.voice)
    parts = [HEAD.format(voice=listener.voice)]
    for talk in tomllib.loads((HERE / "conversations.toml").read_text(encoding="utf-8")).values():
        parts.append(f"\n## {talk['title']}\n")
        conversation = None
        for line in talk["lines"]:
            reply = listener.respond(line, conversation)
            conversation = reply.conversation
            why = reply.why
            felt = ", ".join(f"{name} {chance:.0%}" for name, chance in why.emotions[:2])
            how = f"{felt} · {why.strategy}" if why.kind == "reply" else why.kind
            parts.append(f"**Seeker:** {line}\n\n**Listener:** {reply.text}\n\n<small>{how}</small>\n")
        known = conversation.personas.get("seeker") if conversation else None
        if known is not None and known.sentences:
            parts.append("Noted about the seeker: " + " ".join(f"*{text}*" for text in known.texts) + "\n")
    arguments.out.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
