"""DIM, the Dually Interactive Matching network (Gu et al. 2019): the strongest without pretraining.

A word is its embedding beside what a character CNN makes of its spelling (section 3.1). One BiLSTM encodes
every utterance, persona sentence and response (section 3.2). Matching, aggregation and the MLP are in
`nn/interaction.py` (sections 3.3 to 3.5), where BERT+DIM uses them too.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.models.selection.on_words import OnWords
from allears.nn.chunks import score_in_chunks
from allears.nn.inputs import Encoded, Inputs
from allears.nn.interaction import InteractiveMatching
from allears.nn.recurrent import BiLSTM

_FIRST_GAIN = 4.0  # of what the sentence's BiLSTM makes of a word, over PyTorch's own start


class DIM(OnWords):
    nested_context = True
    nested_persona = True

    def __init__(
        self,
        *,
        vocabulary_size: int,
        embedding_size: int = 300,
        hidden_size: int = 200,
        character_size: int = 50,
        character_filters: int = 50,
        character_windows: tuple[int, ...] = (3, 4, 5),
        word_length: int = 18,
        mlp_size: int = 256,
        dropout: float = 0.2,
        chunk_pairs: int = 512,
    ):
        super().__init__(vocabulary_size, embedding_size, dropout)
        self.spelling = Spelling(
            vocabulary_size,
            size=character_size,
            filters=character_filters,
            windows=tuple(character_windows),
            word_length=word_length,
        )
        self.sentence = BiLSTM(embedding_size + self.spelling.size, hidden_size)
        with torch.no_grad():  # told apart from the start: else attention is even, and nothing leaves chance
            for name in ("weight_ih_l0", "weight_ih_l0_reverse"):
                self.sentence.lstm.get_parameter(name).mul_(_FIRST_GAIN)
        self.matching = InteractiveMatching(
            self.sentence.size, hidden_size=hidden_size, mlp_size=mlp_size, dropout=dropout
        )
        self.chunk_pairs = chunk_pairs

    def set_words(self, words: Sequence[str]) -> None:
        """Teach the model how its words are spelled; `words[i]` is the word with id i."""
        self.spelling.set_words(words)

    def _encode(self, inputs: Inputs) -> Encoded:
        words = torch.cat([self.words(inputs.ids), self.spelling(inputs.ids)], -1)  # [..., L, d]
        states, _ = self.sentence(self.dropout(words), inputs.mask)
        return Encoded(states=states, mask=inputs.mask)  # [..., L, 2h]

    encode_context = encode_persona = encode_response = _encode

    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        return score_in_chunks(self.matching, context, persona, response, pairs=self.chunk_pairs)


class Spelling(nn.Module):
    """Word ids to what a CNN makes of their characters: [..., L] to [..., L, filters · windows].

    The spellings are a buffer, so they are saved with the weights.
    """

    # the printable ASCII characters are 1 to 94; 0 is padding and 95 everything else
    CHARACTERS = 96

    def __init__(
        self, vocabulary_size: int, *, size: int, filters: int, windows: tuple[int, ...], word_length: int
    ):
        super().__init__()
        self.register_buffer("characters", torch.zeros(vocabulary_size, word_length, dtype=torch.long))
        self.characters: Tensor
        self.embedding = nn.Embedding(self.CHARACTERS, size, padding_idx=0)
        self.convolutions = nn.ModuleList(nn.Conv1d(size, filters, window) for window in windows)
        self.size = filters * len(windows)

    def set_words(self, words: Sequence[str]) -> None:
        rows, word_length = self.characters.shape
        if len(words) != rows:
            raise AllearsError(f"the vocabulary has {len(words)} words, but the model was built for {rows}")
        spelled = torch.zeros(rows, word_length, dtype=torch.long)
        for row, word in enumerate(words):
            for position, character in enumerate(word[:word_length]):
                code = ord(character) - ord("!") + 1
                spelled[row, position] = code if 1 <= code <= 94 else 95
        self.characters.copy_(spelled)

    def forward(self, ids: Tensor) -> Tensor:
        kinds, places = torch.unique(ids, return_inverse=True)  # each different word is read once
        letters = self.embedding(self.characters[kinds]).transpose(1, 2)  # [words, size, word_length]
        read = [convolution(letters).relu().amax(-1) for convolution in self.convolutions]
        return torch.cat(read, -1)[places]
