"""Several models as one: equal say, whatever their scales."""

import numpy as np
import pytest

from allears.errors import AllearsError
from allears.models.selection.ensemble import SelectorEnsemble
from allears.models.selection.loading import load_selector
from allears.runtime.selector import Query


class Fixed:
    """Scores every candidate by a table, times a scale."""

    def __init__(self, table, scale=1.0):
        self.table, self.scale, self.fingerprint = np.asarray(table, np.float32), scale, str(scale)

    def encode_responses(self, texts):
        return list(texts)

    def score(self, queries, candidates, chosen):
        return self.scale * self.table[chosen]


def test_the_mean_of_log_likelihoods_decides_and_not_the_scale_of_one_model():
    agreed = SelectorEnsemble([Fixed([0.0, 2.0, 1.0]), Fixed([0.0, 1.0, 3.0])])
    chosen = np.array([[0, 1, 2]])
    candidates = agreed.encode_responses(["a", "b", "c"])
    scores = agreed.score([Query(())], candidates, chosen)
    assert len(candidates) == 3
    assert scores.argmax() == 2
    shifted = SelectorEnsemble([Fixed([100.0, 102.0, 101.0]), Fixed([0.0, 1.0, 3.0])])
    assert shifted.score([Query(())], candidates, chosen) == pytest.approx(scores, abs=1e-4)


def test_an_ensemble_changes_its_fingerprint_with_its_members():
    one, other = Fixed([0.0]), Fixed([0.0], 2.0)
    assert SelectorEnsemble([one, other]).fingerprint != SelectorEnsemble([one]).fingerprint


def test_a_missing_member_is_named(tmp_path):
    with pytest.raises(AllearsError, match="nowhere: no such model"):
        load_selector(f"default+{tmp_path}/nowhere")


def test_an_empty_ensemble_is_refused():
    with pytest.raises(AllearsError, match="at least one"):
        SelectorEnsemble([])
