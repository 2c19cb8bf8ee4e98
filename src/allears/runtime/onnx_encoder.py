"""The encoder of a bundle on onnxruntime: texts in, token states and one vector out. No torch here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from allears.errors import AllearsError
from allears.runtime.changed_weights import change_file, changed_weights
from allears.runtime.selector import Indices
from allears.runtime.side_by_side import cores, side_by_side
from allears.text.layout import Ids, Tokens

Floats = npt.NDArray[np.float32]

ROWS_AT_ONCE = 32  # texts in one encoder call
TOKENS_AT_ONCE = 512  # in one encoder call; what more of them need no longer fits the cores' caches
# Every text is this many tokens wide, or twice, three times... In company as alone, so that company changes nothing:
# padding moves the last bits of a sum, and so does where in a block of rows a token stands (onnxruntime takes two or
# four at a time); int8 makes steps of such bits, and then another reply may be the best one.
ROUND = 4


@dataclass(frozen=True, slots=True)
class EncodedText:
    """One text as the encoder saw it: ids [L], states [L, d], vector [d]. No padding."""

    ids: Ids
    states: Floats
    vector: Floats


@dataclass(frozen=True, slots=True)
class EncoderOutput:
    states: Floats | None  # [B, L, d]
    vectors: Floats  # [B, d]


class OnnxEncoder:
    """The encoder graph, fed in batches of one width."""

    def __init__(self, session: onnxruntime.InferenceSession, threads: int | None = None):
        self.session, self.threads = session, threads or cores()
        # an encoder without segments has a graph without that input
        self.inputs = {item.name for item in session.get_inputs()}

    def run(self, ids: Ids, mask: Ids, segments: Ids, *, states: bool = True) -> EncoderOutput:
        feed = {"ids": ids, "mask": mask, "segments": segments}
        outputs = ["states", "vector"] if states else ["vector"]
        found = self.session.run(outputs, {name: feed[name] for name in feed if name in self.inputs})
        return EncoderOutput(found[0] if states else None, found[-1])

    def batches(self, tokens: Tokens, *, states: bool = True) -> Iterator[tuple[Indices, EncoderOutput]]:
        """Which rows, and their output, each padded only to the next multiple of `ROUND`."""
        widths = rounded(tokens.mask.sum(-1))
        parts = alike(widths)

        def encoded(rows: Indices) -> EncoderOutput:
            arrays = (tokens.ids, tokens.mask, tokens.segments)
            return self.run(*(cut(array[rows], int(widths[rows[0]])) for array in arrays), states=states)

        return zip(parts, side_by_side(encoded, parts, self.threads), strict=True)

    def texts(self, tokens: Tokens) -> list[EncodedText]:
        """Every row of a padded batch on its own."""
        lengths = tokens.mask.sum(-1)
        found: dict[int, EncodedText] = {}
        for rows, output in self.batches(tokens):
            assert output.states is not None
            for row, states, vector in zip(rows, output.states, output.vectors, strict=True):
                found[row] = EncodedText(tokens.ids[row, : lengths[row]], states[: lengths[row]], vector)
        return [found[row] for row in range(len(lengths))]


def rounded(lengths: Indices) -> Indices:
    """How wide texts of these lengths are encoded, whether alone or in company."""
    found: Indices = -(-np.maximum(lengths, 1) // ROUND) * ROUND
    return found


def alike(widths: Indices) -> list[Indices]:
    """Rows to encode together, the widest first: as many as fit one call, all of one width."""
    parts: list[Indices] = []
    for width in np.unique(widths)[::-1].tolist():
        rows = np.flatnonzero(widths == width)
        step = min(ROWS_AT_ONCE, max(1, TOKENS_AT_ONCE // width))
        parts += [rows[start : start + step] for start in range(0, len(rows), step)]
    return parts


def cut(array: npt.NDArray[Any], width: int) -> npt.NDArray[Any]:
    """[B, L, ...] with `width` columns; new ones are zeros, which the mask leaves out."""
    short = width - array.shape[1]
    if short <= 0:
        return array[:, :width]
    return np.pad(array, [(0, 0), (0, short)] + [(0, 0)] * (array.ndim - 2))


def open_graph(
    path: Path, threads: int | None, *, many_small_runs: bool = False
) -> onnxruntime.InferenceSession:
    """A graph of a bundle on the CPU; one that cannot be loaded is one sentence.

    `many_small_runs`: its threads wait awake within a run, and sleep between runs. To wake them for each small product
    of a word costs more than the product.
    """
    options = onnxruntime.SessionOptions()
    if threads is not None:
        options.intra_op_num_threads = threads
    # Two graphs take turns on the same cores: threads of the one must not spin while the other works.
    options.add_session_config_entry("session.intra_op.allow_spinning", "1" if many_small_runs else "0")
    options.add_session_config_entry("session.force_spinning_stop", "1")
    # A plan for memory is made and kept for every shape that comes, and texts have all shapes: memory would grow.
    options.enable_mem_pattern = False
    options.log_severity_level = 3  # errors reach the caller as exceptions
    changed = changed_weights(path.parent, change_file(path.name))
    if changed:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in changed.values()]
        options.add_external_initializers(list(changed), values)
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises its own kinds of RuntimeError and of bare Exception
        reason = str(error).splitlines()[0]
        raise AllearsError(
            f"{path}: the graph cannot be loaded ({reason}); export the bundle again"
        ) from error
