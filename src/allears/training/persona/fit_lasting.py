"""Fits what `personas.lasting` goes by: python -m allears.training.persona.fit_lasting

A logistic regression on the vectors of the shipped bundle's encoder; the threshold is the lowest with the wanted
precision on valid. What it prints is precision and recall on test.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from allears.conversation import Role, Turn
from allears.corpora.lasting import read_lasting
from allears.personas.lasting import FILE, Floats, LastingWeights
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.selector import Query

C = 50.0  # inverse strength of the regularisation
AT_ONCE = 256


def sentence_vectors(selector: OnnxSelector, texts: list[str]) -> Floats:
    found: list[Floats] = []
    for start in range(0, len(texts), AT_ONCE):
        asked = [Query((Turn(Role.SEEKER, text),)) for text in texts[start : start + AT_ONCE]]
        found += [text.vector for text in selector.encode_contexts(asked)]
    return np.array(found, np.float32)


def fit(precision: float, out: Path) -> dict[str, float]:
    """Write the weights; precision and recall on test, in percent."""
    from sklearn.linear_model import LogisticRegression

    selector = OnnxSelector.from_bundle()
    split = {name: list(read_lasting(name)) for name in ("train", "valid", "test")}
    vectors = {name: sentence_vectors(selector, [each.text for each in rows]) for name, rows in split.items()}
    gold = {name: np.array([each.lasting for each in rows]) for name, rows in split.items()}
    unit = vectors["train"] / np.linalg.norm(vectors["train"], axis=1, keepdims=True)
    model = LogisticRegression(C=C, max_iter=3000).fit(unit, gold["train"])
    weights = LastingWeights(
        model.coef_[0].astype(np.float32), float(model.intercept_[0]), 0.5, selector.fingerprint
    )
    chances = weights.likely(vectors["valid"])
    threshold = lowest_threshold(chances, gold["valid"], precision)
    facts = {"bias": str(weights.bias), "threshold": str(threshold), "fingerprint": weights.fingerprint}
    save_file({"weights": weights.weights}, out, metadata=facts)
    said = weights.likely(vectors["test"]) >= threshold
    return {
        "precision": 100 * float(gold["test"][said].mean()) if said.any() else 0.0,
        "recall": 100 * float(said[gold["test"]].mean()),
        "threshold": threshold,
    }


def lowest_threshold(chances: Floats, gold: np.ndarray, precision: float) -> float:
    """The lowest threshold from which on at least this share is right; the highest chance where none is."""
    order = np.argsort(-chances, kind="stable")
    right = np.cumsum(gold[order]) / np.arange(1, len(order) + 1)
    good = np.flatnonzero(right >= precision)
    return float(chances[order[good[-1] if len(good) else 0]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--precision", type=float, default=0.75, help="wanted on valid (default: 0.75)")
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    found = fit(options.precision, options.out)
    print(", ".join(f"{name} {value:.2f}" for name, value in found.items()))


if __name__ == "__main__":
    main()
