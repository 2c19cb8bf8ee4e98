"""What readers understand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from allears.errors import AllearsError
from allears.experiments.contract import Measurement
from allears.experiments.measures.kind import Measures, device_for, place_of

if TYPE_CHECKING:
    from allears.experiments.lab import Lab


def understanding(lab: Lab, asked: Measurement) -> Measures:
    from allears.corpora.heads import head
    from allears.evaluation.understanding import evaluate_understanding
    from allears.models.reader.loading import load_reading_model

    chosen = head(asked.option("head"))
    place = lab.corpora.place(chosen.corpus)
    model = load_reading_model(
        place_of(lab, asked.of), chosen, lab.corpora.root, corpus=place, device=device_for(lab, asked.of)
    )
    readings = chosen.read(asked.option("split", "valid"), lab.corpora.root, corpus=place)
    return dict(
        evaluate_understanding(
            model, chosen, readings, past=asked.option("past", "gold"), limit=lab.setting.limit
        ).flat()
    )


def strategy_curve(lab: Lab, asked: Measurement) -> Measures:
    from allears.corpora.heads import head
    from allears.evaluation.analyses.strategy_curve import FREQUENCY, FrequencyModel, top_n_curve
    from allears.evaluation.understanding import evaluate_understanding
    from allears.models.reader.loading import load_reading_model

    chosen = head("strategy")
    root, place = lab.corpora.root, lab.corpora.place("esconv")
    name = place_of(lab, asked.of)
    model: Any = (
        FrequencyModel(chosen, chosen.read("train", root, corpus=place))
        if name == FREQUENCY
        else load_reading_model(name, chosen, root, corpus=place, device=device_for(lab, asked.of))
    )
    readings = chosen.read("valid", root, corpus=place)
    report = evaluate_understanding(model, chosen, readings, limit=lab.setting.limit)
    return {f"top_{n}": value for n, value in enumerate(top_n_curve(report), 1)}


def persona_empathy(lab: Lab, asked: Measurement) -> Measures:
    from allears.evaluation.analyses.persona_empathy import relations
    from allears.models.reader.sentence_loading import load_sentence_encoder
    from allears.runtime.bundle import default_bundle

    encoder = asked.option("encoder")
    if encoder == "vectors":
        encoder = _vectors(lab)
    talks = list(lab.corpora.read(asked.option("corpus"), asked.option("split", "valid")))
    found = relations(
        talks,
        load_sentence_encoder(default_bundle() if encoder == "default" else encoder, lab.setting.device),
    )
    measures: Measures = {}
    for aspect, relation in found.items():
        measures |= relation.flat()
        measures |= {f"{aspect} at {score:g}": mean for score, (mean, _, _) in relation.means.items()}
    return measures


def _vectors(lab: Lab) -> str:
    """Word vectors in the GloVe layout: those named, or the recipes' file among the corpora."""
    name = lab.setting.vectors or "glove.100d.40k.txt.gz"
    for path in (Path(name), lab.corpora.root / name):
        if path.is_file():
            return str(path)
    raise AllearsError(f"{name} is not under {lab.corpora.root}; name a file of word vectors with --vectors")
