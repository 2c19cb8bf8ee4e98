"""PAL, Figures 3 and 5: do supporters who speak to who the seeker is get better marks?

For each conversation, the mean cosine between every supporter's turn and every persona sentence of the seeker; then
that similarity against what the seeker said in ESConv's survey: empathy, relevance, and by how much the feeling's
intensity fell. The paper draws the mean similarity at each score, a trend line through these means, and its R²; a line
through five means flatters, so the R² over single conversations stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from allears.conversation import Conversation, Role
from allears.corpora.plots import GRID, QUIET, SEEKER, SUPPORTER, check_picture_path
from allears.errors import AllearsError
from allears.evaluation.picture import picture, picture_style, write_picture
from allears.models.reader.sentence_encoder import SentenceEncoder

Values = npt.NDArray[np.float64]
ASPECTS = {
    "empathy": "empathy",
    "relevance": "relevance",
    "intensity_drop": "decrease of the feeling's intensity",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """One aspect's score and the similarity of each conversation that has both, and the lines through them."""

    aspect: str
    scores: Values
    similarities: Values

    @property
    def means(self) -> dict[float, tuple[float, float, int]]:
        """For each score: mean similarity, its standard error, and how many conversations."""
        found = {}
        for score in np.unique(self.scores):
            group = self.similarities[self.scores == score]
            error = float(group.std(ddof=1) / np.sqrt(len(group))) if len(group) > 1 else 0.0
            found[float(score)] = float(group.mean()), error, len(group)
        return found

    @property
    def trend(self) -> tuple[float, float, float]:
        """Slope, intercept and R² of the line through the means, each counting the same, as the paper draws it."""
        means = self.means
        return _line(np.array(list(means)), np.array([mean for mean, _, _ in means.values()]))

    @property
    def r2(self) -> float:
        """Over single conversations."""
        return _line(self.scores, self.similarities)[2]

    def flat(self) -> dict[str, float | int]:
        slope, _, r2 = self.trend
        return {
            f"{self.aspect}_slope": slope,
            f"{self.aspect}_r2_means": r2,
            f"{self.aspect}_r2": self.r2,
            f"{self.aspect}_conversations": len(self.scores),
        }


def relations(conversations: Iterable[Conversation], encoder: SentenceEncoder) -> dict[str, Relation]:
    """By aspect. Conversations without a seeker's persona, a supporter's turn or a survey are left out."""
    kept = [talk for talk in conversations if _persona(talk) and _replies(talk) and _scores(talk)]
    if len(kept) < 3:
        raise AllearsError(
            f"{len(kept)} conversations have a seeker's persona and survey scores, which is too few; "
            "try pesconv, or an ESConv that `allears annotate --add persona` wrote"
        )
    similarity = _similarities(kept, encoder)
    found = {}
    for aspect in ASPECTS:
        pairs = [
            (scores[aspect], value)
            for talk, value in zip(kept, similarity, strict=True)
            if aspect in (scores := _scores(talk))
        ]
        if len({score for score, _ in pairs}) > 1:  # a line needs two different scores
            found[aspect] = Relation(
                aspect, *(np.array(side, np.float64) for side in zip(*pairs, strict=True))
            )
    return found


def save_relations_picture(found: Mapping[str, Relation], title: str, path: Path) -> None:
    """A panel per aspect: the conversations pale, the means with their standard errors, the trend line."""
    check_picture_path(path)
    chance = np.random.default_rng(0)
    with picture_style():
        figure = picture(4.1 * len(found), 4.3)
        figure.suptitle(title, fontsize=12.5, fontweight="bold", x=0.01, ha="left")
        panels = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
        for axes, relation in zip(panels, found.values(), strict=True):
            beside = chance.uniform(-0.16, 0.16, len(relation.scores))
            axes.scatter(
                relation.scores + beside, relation.similarities, s=9, color=QUIET, alpha=0.35, linewidths=0
            )
            means = relation.means
            at = np.array(list(means))
            values, errors = (np.array([each[part] for each in means.values()]) for part in (0, 1))
            slope, intercept, r2 = relation.trend
            axes.plot(at, slope * at + intercept, color=SEEKER, linewidth=1.6, linestyle=(0, (5, 3)))
            axes.errorbar(
                at, values, errors, color=SUPPORTER, marker="o", markersize=6, linestyle="", capsize=3
            )
            axes.set_title(
                f"R² = {r2:.2f} of the means, {relation.r2:.3f} of {len(relation.scores)} conversations",
                loc="left", fontsize=8.5, color=QUIET,
            )  # fmt: skip
            axes.set_xticks(at)
            axes.set_xlabel(ASPECTS[relation.aspect])
            axes.grid(color=GRID, linewidth=0.8, axis="y")
            axes.set_axisbelow(True)
        low, high = np.quantile(np.concatenate([each.similarities for each in found.values()]), [0.01, 0.99])
        panels[0].set(ylabel="similarity of replies to persona", ylim=(low - 0.02, high + 0.02))
        write_picture(figure, path)


def _persona(talk: Conversation) -> Sequence[str]:
    persona = talk.personas.get(Role.SEEKER.value)
    return () if persona is None else persona.texts


def _replies(talk: Conversation) -> list[str]:
    return [turn.text for turn in talk.turns if turn.speaker is Role.SUPPORTER]


def _scores(talk: Conversation) -> dict[str, float]:
    survey = talk.survey
    found = {
        name: survey[f"seeker_{name}"] for name in ("empathy", "relevance") if f"seeker_{name}" in survey
    }
    before, after = (
        survey.get("seeker_initial_emotion_intensity"),
        survey.get("seeker_final_emotion_intensity"),
    )
    if before is not None and after is not None:
        found["intensity_drop"] = before - after
    return found


def _similarities(talks: Sequence[Conversation], encoder: SentenceEncoder) -> list[float]:
    """The mean cosine over all pairs of a reply and a persona sentence; every text is encoded once."""
    texts = list(dict.fromkeys(text for talk in talks for text in (*_persona(talk), *_replies(talk))))
    vectors = dict(zip(texts, encoder.vectors(texts), strict=True))
    return [
        float(
            (
                np.stack([vectors[text] for text in _replies(talk)])
                @ np.stack([vectors[text] for text in _persona(talk)]).T
            ).mean()
        )
        for talk in talks
    ]


def _line(x: Values, y: Values) -> tuple[float, float, float]:
    """Least squares: slope, intercept, and the share of y's variance that the line explains."""
    slope, intercept = np.polyfit(x, y, 1)
    spread = float(((y - y.mean()) ** 2).sum())
    rest = float(((y - (slope * x + intercept)) ** 2).sum())
    return float(slope), float(intercept), 1 - rest / spread if spread > 0 else 0.0
