"""The generator of EmpatheticDialogues (Rashkin et al. 2019, section 4.1): a Transformer, from context to response.

H = Enc(x_1 ... x_m)                          the turns so far, concatenated: word + position + speaker
P(y_t | y_<t, x) = softmax(E Dec(y_<t, H))    E: the words' vectors, shared by encoder, decoder and output (`tied`)
L = -1/N sum_t log P(y_t | y_<t, x)

Four layers and six heads; "Large" has five layers. The words start from published vectors.
"""

from __future__ import annotations

from allears.models.generation.empathetic import EmpatheticBatch, Read, StackModel


class Transformer(StackModel):
    names_emotions = False

    def read(self, batch: EmpatheticBatch) -> Read:
        return Read(self.encoder(self.words, batch.context), batch.context.mask)
