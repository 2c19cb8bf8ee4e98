"""Corpora by the names that recipes give them, and those that experiments make on the way from what is at hand.

In full, a corpus is what it is; what `ALLEARS_DATA` lacks and can be made (Reddit's conversations from the dumps,
labels by our reader, personas by our extractor, parts by subreddit) is made once, in the experiments' folder. In the
small setting every corpus is a file with the first few conversations of each split.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from allears.conversation import Conversation
from allears.corpora import corpus, data_root
from allears.corpora.files import NotHereError
from allears.errors import AllearsError
from allears.experiments.fingerprints import conversations_digest
from allears.experiments.setting import Setting
from allears.experiments.small import CONVERSATIONS

REDDIT, REDDIT_ALL, PESCONV_TRAIN = "reddit.jsonl.gz", "reddit-all.jsonl.gz", "pesconv-train.jsonl"
LABELS_TRAIN, LABELS_VALID = "reddit-labels-train.jsonl", "reddit-labels-valid.jsonl"
JOY, DISTRESS = "reddit-joy.jsonl", "reddit-distress.jsonl"
SUPPORTIVE, CASUAL = "reddit-supportive.jsonl", "reddit-casual.jsonl"
SHARES = (0, 25, 50, 75, 100)  # percent of supportive conversations in a mixture
MIXTURES = {share: f"reddit-mix-{share}.jsonl" for share in SHARES}

# The sample has few conversations of r/happy and r/offmychest; these are nearest to them in what people write there.
SUBREDDITS = {
    JOY: ("happy", "mademesmile", "wholesomememes", "humansbeingbros", "getmotivated", "aww", "cats"),
    DISTRESS: (
        "offmychest", "depression", "anxiety", "bipolar", "bipolarreddit", "bpd", "schizophrenia", "mentalhealth",
        "socialanxiety", "suicidewatch", "lonely",
    ),
    SUPPORTIVE: (
        "offmychest", "depression", "anxiety", "bipolar", "bipolarreddit", "bpd", "schizophrenia", "mentalhealth",
        "socialanxiety", "suicidewatch", "lonely", "happy", "mademesmile", "wholesomememes", "humansbeingbros",
        "getmotivated",
    ),
    CASUAL: (
        "casualconversation", "todayilearned", "facepalm", "askreddit", "funny", "pics", "youshouldknow", "gaming",
        "videos", "interestingasfuck", "educationalgifs", "gifs", "showerthoughts", "mildlyinteresting", "nottheonion",
        "memes", "science",
    ),
}  # fmt: skip
SPLITS = ("train", "valid")


class Corpora:
    """`place` is how a corpus is called in recipes and commands here; what has to be made is made by asking, or
    refused where the setting says that what is there must do."""

    def __init__(self, setting: Setting):
        self.setting, self.root = setting, data_root(setting.root)
        self.folder = setting.home.absolute() / "data"
        self._digests: dict[tuple[str, str], str] = {}

    def place(self, name: str) -> str:
        if self.setting.small:
            return str(self._small(name))
        return name if self._is_here(name) else str(self._made(name))

    def read(self, name: str, split: str) -> Iterator[Conversation]:
        return corpus(self.place(name)).read(split, self.root)

    def read_whole(self, name: str, split: str) -> Iterator[Conversation]:
        """All of a split, also in the small setting: for what is only counted."""
        return corpus(name).read(split, self.root)

    def fingerprint(self, name: str, split: str) -> str:
        """Of what is read, whichever file it comes from."""
        key = (name, split)
        if key not in self._digests:
            try:
                self._digests[key] = conversations_digest(self.read(name, split))
            except NotHereError:
                self._digests[key] = "not here"
        return self._digests[key]

    def _is_here(self, name: str) -> bool:
        return name not in _MADE or (self.root / name).is_file()

    def _made(self, name: str) -> Path:
        return self._made_at(self.folder / name)

    def _small(self, name: str) -> Path:
        """The first conversations of a corpus. What is made is made of few from the beginning."""
        if name in _MADE and name not in (REDDIT, REDDIT_ALL):
            return self._made(name)
        stem = name.partition(".jsonl")[0]
        target = (
            self.folder / f"{stem}.jsonl"
        )  # a file called like a corpus is cut into examples as that corpus is
        if not target.is_file():
            self._refuse_new(target)
            self.folder.mkdir(parents=True, exist_ok=True)
            whole = REDDIT if name == REDDIT_ALL and not self._is_here(name) else name
            place = whole if self._is_here(whole) else str(self._built(whole))
            found: list[Conversation] = []
            for split, count in CONVERSATIONS.items():
                try:
                    found += islice(corpus(place).read(split, self.root), count)
                except NotHereError:
                    continue
            if not found:
                raise NotHereError(f"{name} is not under {self.root}", source=self.root)
            _write(target, found)
        return target

    def _built(self, name: str) -> Path:
        """A whole corpus from the dumps, also for the small setting."""
        return self._made_at(self.folder / "whole" / name)

    def _made_at(self, target: Path) -> Path:
        if not target.is_file():
            self._refuse_new(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            _MADE[target.name](self, target)
        return target

    def _refuse_new(self, target: Path) -> None:
        """A key asks for what is read of a corpus: where nothing is to be made, that must not take an hour."""
        if self.setting.ready:
            raise AllearsError(f"{target.name} was not made yet")

    def whole_reddit(self) -> Iterator[Conversation]:
        place = REDDIT if self._is_here(REDDIT) else str(self._built(REDDIT))
        for split in (*SPLITS, "test"):
            yield from corpus(place).read(split, self.root)


def _write(path: Path, conversations: Iterable[Conversation]) -> None:
    """Whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        file.writelines(f"{conversation.to_json()}\n" for conversation in conversations)
    part.rename(path)


def _build_reddit(persona_of: str) -> Callable[[Corpora, Path], None]:
    def build(corpora: Corpora, target: Path) -> None:
        try:
            from allears.corpora.reddit.build import build as build_corpus
        except ImportError as error:
            raise AllearsError(
                f"{target.name} is built from Reddit's dumps, which needs more: pip install 'allears[reddit]'"
            ) from error
        from allears.corpora.reddit.options import Options

        folder = corpora.root / "reddit"
        comments, submissions = folder / "RC_sample.zst", folder / "RS_sample.zst"
        if not comments.is_file():
            raise AllearsError(
                f"{target.name} is neither under {corpora.root} nor can it be built: {comments} is missing "
                "(docs/reddit.md says where dumps come from)"
            )
        out = target.with_name(f"built-{persona_of}")
        if not (out / REDDIT).is_file():
            options = Options(
                comments=(comments,), submissions=(submissions,) if submissions.is_file() else (), out=out,
                persona_of=persona_of, orphans="keep",
            )  # fmt: skip
            build_corpus(options)
        (out / REDDIT).rename(target)

    return build


def _few(corpora: Corpora, conversations: Iterable[Conversation]) -> list[Conversation]:
    """All of them, or in the small setting the first of each split."""
    if not corpora.setting.small:
        return list(conversations)
    left = dict(CONVERSATIONS)
    found = []
    for conversation in conversations:
        if left.get(conversation.split, 0):
            left[conversation.split] -= 1
            found.append(conversation)
        elif not any(left.values()):
            break
    return found


def _part(name: str) -> Callable[[Corpora, Path], None]:
    wanted = frozenset(SUBREDDITS[name])

    def make(corpora: Corpora, target: Path) -> None:
        chosen = (
            each for each in corpora.whole_reddit() if str(each.labels.get("subreddit", "")).lower() in wanted
        )
        found = _few(corpora, chosen)
        if not found:
            raise AllearsError(f"no conversation here is from one of the subreddits of {name}")
        _write(target, found)

    return make


def _mixture(share: int) -> Callable[[Corpora, Path], None]:
    """As many conversations for every share: casual ones, of which that share was replaced by supportive ones."""

    def make(corpora: Corpora, target: Path) -> None:
        found: list[Conversation] = []
        for split in SPLITS:
            supportive, casual = (list(corpora.read(name, split)) for name in (SUPPORTIVE, CASUAL))
            size = min(len(supportive), len(casual))
            count = round(size * share / 100)
            chance = random.Random(split)  # the same order for every share: mixtures are nested
            chance.shuffle(supportive)
            chance.shuffle(casual)
            found += supportive[:count] + casual[: size - count]
        _write(target, found)

    return make


def _labelled(split: str) -> Callable[[Corpora, Path], None]:
    """Emotion, intent, act and mechanisms of empathy by our reader, as recipes/reddit-modmoel.toml asks for."""

    def make(corpora: Corpora, target: Path) -> None:
        from allears.corpora.heads import head
        from allears.evaluation.annotate import AddAct, AddEmotion, AddIntent, AddMechanisms, mechanism_head
        from allears.evaluation.annotation_file import annotate_to
        from allears.labels import MECHANISMS
        from allears.models.reader.loading import load_reading_model

        reader = load_reading_model("default", head(mechanism_head(MECHANISMS[0])))
        steps = (
            AddEmotion(reader, "default"),
            AddIntent(reader, "default"),
            AddAct(reader, "default"),
            AddMechanisms(dict.fromkeys(MECHANISMS, reader), "default"),
        )

        def add(conversations: Sequence[Conversation]) -> list[Conversation]:
            found = list(conversations)
            for step in steps:
                found = step(found)
            return found

        settings = {"corpus": REDDIT, "split": split, "add": "emotion, intent, act, mechanisms"}
        annotate_to(target, corpora.read(REDDIT, split), add, settings)

    return make


def _with_personas(corpora: Corpora, target: Path) -> None:
    """ESConv's train split with the seekers' personas by our extractor, as recipes/esconv-pal.toml asks for."""
    from allears.evaluation.annotate import AddPersona
    from allears.evaluation.annotation_file import annotate_to
    from allears.models.extractor.loading import load_extractor

    talks = corpora.read("esconv", "train")
    settings = {"corpus": "esconv", "split": "train", "add": "persona"}
    few = islice(talks, 12) if corpora.setting.small else talks
    annotate_to(target, few, AddPersona(load_extractor("default"), "default"), settings)


_MADE: dict[str, Callable[[Corpora, Path], None]] = {
    REDDIT: _build_reddit("respondent"),
    REDDIT_ALL: _build_reddit("nobody"),
    PESCONV_TRAIN: _with_personas,
    LABELS_TRAIN: _labelled("train"),
    LABELS_VALID: _labelled("valid"),
    **{name: _part(name) for name in SUBREDDITS},
    **{MIXTURES[share]: _mixture(share) for share in SHARES},
}
