"""The reader that a recipe asks for, before it learns anything: its encoder, its heads, and what it takes over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from allears.corpora.heads import Head, head
from allears.errors import AllearsError
from allears.models.reader import saved
from allears.models.reader.reader import Reader
from allears.nn.encoder import Encoder, encoder_of, encoder_tokenizer
from allears.nn.low_rank import low_rank, train_at_rank
from allears.nn.pretrained import load_encoder
from allears.nn.weights import load_alike
from allears.runtime.bundle import CARD_FILE
from allears.text.layout import Limits
from allears.text.tokenizer import WordPiece
from allears.training.understanding.bundled_start import load_screen


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderModelOptions:
    """`start` shares another run's encoder: a selection model's, or a reader's (whose heads go on as well).

    `frozen` leaves that encoder as it is: every text is read once and only the heads learn, in seconds. Rationales,
    which need the states of single tokens, are learned by those of `heads.pointing` alone. `read_with` names a bundle
    exported from that encoder: what its int8 graph says is then what the heads learn from, and reading is faster on
    a CPU.

    `further` puts so many layers upon an encoder that stays as it is, and shares them among all heads: a ranker's
    encoder no longer knows all that reading needs, and two layers give most of that back for a sixth of a pass. What
    they read is the encoder's last states, so nothing else in a bundle changes. `further_inner` is how wide they are
    inside; 0: as the encoder's own layers.

    `layers` takes the encoder's first so many layers alone, for a reader that is no part of a ranker's.

    `rank` lets every matrix of the encoder learn a change of that rank alone, and its biases and norms; that is what a
    bundle stores of a screen. With `read_with` the matrices begin as that bundle has them, and cutting the change loses
    nothing. Such a change wants about ten times the learning rate of whole matrices. With `go_on` it begins as that of
    the reader in `start`, which has learned upon the same matrices, as far as the rank holds it. `start` may
    be a bundle there, whose screen goes on.
    """

    encoder: str = ""
    start: str = ""
    layers: int = 0
    further: int = 0
    further_inner: int = 0
    rank: int = 0
    go_on: bool = False
    frozen: bool = False
    read_with: str = ""
    hidden: int = 0
    pooling: str = "mean"
    dropout: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadOptions:
    """Which heads are learned, and how they share the encoder.

    In an epoch a head has batches in proportion to its size to the power of `share`: 1 is as they come, 0 the
    same number for each. `weighting` is "size" (that alone) or "uncertainty" (each loss's weight is learned).

    `informed` heads are told the facts of a conversation beside its words (`conversation_facts.py`). `learned` are
    those of `names` that learn, where not all do: the others are taken over from the reader in `model.start`.

    `plain` heads read the encoder's own states where others read those of `model.further` layers.

    `pointing`, for a frozen encoder, are those that learn where a response shows what they say (EPITOME). With it and
    without `learned` nothing else learns: all labels are given as by the reader in `model.start`. To say where, the
    scores of `pointing_window` neighbouring tokens are averaged.

    `teachers` are runs of other readers; `taught` is the share of what is learned that comes from them, the rest comes
    from the gold labels (`teachers.py`).
    """

    names: tuple[str, ...]
    informed: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()
    pointing: tuple[str, ...] = ()
    pointing_window: int = 1
    share: float = 0.5
    weighting: str = "size"
    label_smoothing: float = 0.0
    rationale_weight: float = 0.5
    teachers: tuple[str, ...] = ()
    taught: float = 0.5

    def learns(self, name: str) -> bool:
        """Whether a head learns its labels."""
        return name in (self.learned or (() if self.pointing else self.names))


def build_reader(
    wanted: ReaderModelOptions,
    limits: Limits,
    heads: Sequence[Head],
    *,
    uncertainty: bool = False,
    informed: Sequence[str] = (),
    pointing: Sequence[str] = (),
    plain: Sequence[str] = (),
) -> tuple[Reader, saved.ReaderCard, WordPiece]:
    """The reader a recipe asks for, before training, with its tokenizer."""
    if wanted.go_on and not (
        wanted.rank and wanted.read_with and (saved.is_reader(wanted.start) or _is_bundle(wanted.start))
    ):
        raise AllearsError(
            "recipe: model.go_on needs model.rank, the bundle in model.read_with and, in model.start, a reader that "
            "learned upon it, or a bundle with a screen"
        )
    if wanted.further and wanted.rank:
        raise AllearsError("recipe: model.further leaves the encoder as it is; leave model.rank out")
    encoder, tokenizer, other = _encoder(wanted)
    if wanted.layers:
        encoder = encoder.first_layers(wanted.layers)
    options = {
        "multi_label": [each.name for each in heads if each.multi_label],
        "rationales": [
            each.name for each in heads if each.rationales and (not wanted.frozen or each.name in pointing)
        ],
        "hidden": wanted.hidden,
        **({"further": wanted.further} if wanted.further else {}),
        **({"further_inner": wanted.further_inner} if wanted.further_inner else {}),
        "pooling": wanted.pooling,
        "dropout": wanted.dropout,
        "uncertainty": uncertainty,
        **({"informed": list(informed)} if informed else {}),
        **({"plain": list(plain)} if plain else {}),
    }
    card = saved.ReaderCard({each.name: each.labels for each in heads}, limits, encoder.config, options)
    model = saved.build(card, encoder)
    if other is not None:  # go on with the heads that are the same
        load_alike(model, other)
    if wanted.rank:
        _learn_at_rank(model, wanted)
    return model, card, tokenizer


def _learn_at_rank(model: Reader, wanted: ReaderModelOptions) -> None:
    if wanted.rank < 0:
        raise AllearsError(f"recipe: model.rank is 1 or more (0: whole matrices learn), got {wanted.rank}")
    if wanted.frozen:
        raise AllearsError("recipe: model.frozen leaves the encoder as it is; leave model.rank out")
    parameters = dict(model.encoder.named_parameters())
    before = {name: value.detach().clone() for name, value in parameters.items()} if wanted.go_on else {}
    if wanted.read_with:
        from allears.nn.stored_matrices import begin_as_stored

        begin_as_stored(model.encoder, wanted.read_with)
    learned = {
        name.removesuffix(".weight"): low_rank(value - parameters[name].detach(), wanted.rank)
        for name, value in before.items()
        if not torch.equal(value, parameters[name])
    }
    train_at_rank(model.encoder, wanted.rank, learned)


def _encoder(wanted: ReaderModelOptions) -> tuple[Encoder, WordPiece, Reader | None]:
    if wanted.start and (saved.is_reader(wanted.start) or _is_bundle(wanted.start)):
        reader = load_screen(wanted.start) if _is_bundle(wanted.start) else saved.load(wanted.start)
        return reader.model.encoder, reader.tokenizer, reader.model
    if wanted.start:
        from allears.models.selection import saved as selection

        return *encoder_of(selection.load(wanted.start), wanted.start), None
    if wanted.encoder:
        return load_encoder(wanted.encoder), encoder_tokenizer(wanted.encoder), None
    raise AllearsError("recipe: [model] needs `encoder` (a hub name or a folder) or `start` (a run folder)")


def _is_bundle(place: str) -> bool:
    return bool(place) and (Path(place) / CARD_FILE).is_file()


def chosen_heads(wanted: HeadOptions, model: ReaderModelOptions) -> list[Head]:
    if not wanted.names:
        raise AllearsError('recipe: [heads] needs at least one of them: names = ["ed-emotion"]')
    if len(set(wanted.names)) < len(wanted.names):
        raise AllearsError("recipe: heads.names has a head twice")
    if wanted.weighting not in ("size", "uncertainty"):
        raise AllearsError(f"recipe: heads.weighting is 'size' or 'uncertainty', got {wanted.weighting!r}")
    for what in ("informed", "plain", "learned", "pointing"):
        unknown = [name for name in getattr(wanted, what) if name not in wanted.names]
        if unknown:
            raise AllearsError(f"recipe: heads.{what} has {unknown[0]!r}, which heads.names has not")
    blind = [name for name in wanted.pointing if not head(name).rationales]
    if blind:
        raise AllearsError(f"recipe: heads.pointing has {blind[0]!r}, whose corpus has no rationales")
    if wanted.pointing and not model.frozen:
        raise AllearsError(
            "recipe: heads.pointing is for model.frozen = true; otherwise every head with rationales points"
        )
    if wanted.pointing_window < 1 or wanted.pointing_window % 2 == 0:
        raise AllearsError(
            f"recipe: heads.pointing_window is an odd number of tokens, 1 or more; got {wanted.pointing_window}"
        )
    learning = [name for name in wanted.names if wanted.learns(name) or name in wanted.pointing]
    upon = [name for name in learning if name not in wanted.plain]
    if model.further and model.frozen and upon:
        raise AllearsError(
            f"recipe: {upon[0]} reads model.further layers, which learn with it; leave model.frozen out, "
            "or name it in heads.plain"
        )
    return [head(name) for name in wanted.names]


def taken_over(model: ReaderModelOptions, heads: Sequence[Head], wanted: HeadOptions) -> dict[str, float]:
    """The temperatures of the heads whose labels do not learn; an error unless `start` has those very heads."""
    kept = [each for each in heads if not wanted.learns(each.name)]
    if not kept:
        return {}
    if not saved.is_reader(model.start):
        raise AllearsError(
            f"recipe: the head {kept[0].name} does not learn, so model.start must be a reader that has it"
        )
    start = saved.load(model.start)
    for each in kept:
        start.needs(each.name)
        if (each.name in start.card.informed) != (each.name in wanted.informed):
            raise AllearsError(
                f"recipe: the head {each.name} of model.start has another form; heads.informed must name it "
                "here where it does so there, and only there"
            )
        if start.card.options.get("hidden", 0) != model.hidden:
            raise AllearsError(
                f"recipe: the head {each.name} of model.start has another form; model.hidden must be "
                f"{start.card.options.get('hidden', 0)} as there"
            )
    known = start.card.temperatures
    return {each.name: known[each.name] for each in kept if each.name in known}
