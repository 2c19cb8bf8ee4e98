"""Opening what turns sentences into vectors: word vectors, a bundle, or a pretrained encoder."""

from __future__ import annotations

from pathlib import Path

from allears.errors import AllearsError
from allears.models.reader.sentence_encoder import (
    VECTOR_FILES,
    OnnxSentences,
    SentenceEncoder,
    TokenEncoder,
    WordAverage,
)


def load_sentence_encoder(name: str | Path, device: str = "cpu") -> SentenceEncoder:
    """A file of word vectors, a bundle's folder, or a pretrained encoder by hub name or folder."""
    path = Path(name)
    if path.name.endswith(VECTOR_FILES):
        return WordAverage(path)
    if (path / "bundle.json").is_file():
        return OnnxSentences(path)
    try:
        from allears.models.reader.torch_sentences import TorchSentences
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("allears"):  # our own fault, not a missing install
            raise
        raise AllearsError(
            f'{name}: an encoder needs {error.name}, which is not installed; run pip install "allears[train]", '
            "or name an exported bundle or a file of word vectors"
        ) from error
    return TorchSentences(name, device)


def load_token_encoder(name: str | Path, device: str = "cpu") -> TokenEncoder:
    """The same, for those who need a vector per token."""
    encoder = load_sentence_encoder(name, device)
    if isinstance(encoder, WordAverage):
        raise AllearsError(f"{name}: word vectors do not know their sentence; name an encoder or a bundle")
    return encoder  # type: ignore[return-value]
