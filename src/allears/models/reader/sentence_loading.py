"""Opening what turns sentences into vectors: word vectors, a bundle, or a pretrained encoder."""

from __future__ import annotations

from pathlib import Path

from allears.errors import AllearsError, needs
from allears.models.reader.sentence_encoder import (
    VECTOR_FILES,
    OnnxSentences,
    SentenceEncoder,
    TokenEncoder,
    WordAverage,
    similarity_by,
)
from allears.personas.memory import Similarity


def load_sentence_encoder(name: str | Path, device: str = "cpu") -> SentenceEncoder:
    """A file of word vectors, a bundle's folder, or a pretrained encoder by hub name or folder."""
    path = Path(name)
    if path.name.endswith(VECTOR_FILES):
        return WordAverage(path)
    if (path / "bundle.json").is_file():
        return OnnxSentences(path)
    otherwise = ", or name an exported bundle or a file of word vectors"
    with needs(f"{name}: an encoder", otherwise=otherwise):
        from allears.models.reader.torch_sentences import TorchSentences
    return TorchSentences(name, device)


def load_token_encoder(name: str | Path, device: str = "cpu") -> TokenEncoder:
    """The same, for those who need a vector per token."""
    encoder = load_sentence_encoder(name, device)
    if isinstance(encoder, WordAverage):
        raise AllearsError(f"{name}: word vectors do not know their sentence; name an encoder or a bundle")
    return encoder  # type: ignore[return-value]


def load_similarity(name: str | None, device: str = "cpu") -> Similarity | None:
    """How alike two sentences are by an encoder; None, which compares words alone, without one."""
    return None if name is None else similarity_by(load_sentence_encoder(name, device))
