"""One door for every kind of model folder."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from allears.errors import AllearsError
from allears.models.selection.loading import load_selector
from allears.runtime import bundle as bundles
from allears.text.layout import Limits


@dataclass
class Bundle:
    """Stands for the ONNX selector, so that the door is tested without a graph."""

    path: Path
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def from_bundle(cls, path: Path) -> Bundle:
        return cls(Path(path))


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(sys.modules, "allears.runtime.onnx_selector", SimpleNamespace(OnnxSelector=Bundle))
    (tmp_path / "bundles" / "default").mkdir(parents=True)
    (tmp_path / "bundles" / "default" / "bundle.json").write_text("{}")
    return tmp_path / "bundles" / "default"


def test_a_folder_with_a_bundle_is_opened_by_the_runtime(bundle: Path):
    assert load_selector(bundle).path == bundle


def test_default_is_the_bundle_inside_the_package(bundle: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundles, "files", lambda package: bundle.parents[1])
    assert load_selector("default").path == bundle


def test_a_bundle_needs_no_torch(bundle: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert load_selector(bundle).path == bundle


def test_an_install_without_a_default_bundle_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundles, "files", lambda package: tmp_path)
    with pytest.raises(AllearsError, match="no default bundle"):
        load_selector("default")


def test_a_bundle_does_not_run_on_a_gpu(bundle: Path):
    with pytest.raises(AllearsError, match="runs on the CPU"):
        load_selector(bundle, "cuda")


@pytest.mark.parametrize(("asked", "read"), [(None, 10), (0, 10), (5, 10), (20, 20)])
def test_more_persona_sentences_than_the_model_reads_are_read_all_the_same(
    bundle: Path, asked: int | None, read: int
):
    assert load_selector(bundle, persona_sentences=asked).limits.persona_sentences == read


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path):
    with pytest.raises(AllearsError, match=r"nowhere: no such model; give a run folder"):
        load_selector(tmp_path / "nowhere")
