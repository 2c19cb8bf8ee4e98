"""How the weights of an ONNX graph are stored: in int8 or float16, and in files of a bounded size."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import ModelProto, NodeProto, TensorProto, external_data_helper, helper, numpy_helper

from allears.runtime.changed_weights import WeightPlace

Array = npt.NDArray[Any]

SMALLEST_TABLE = 2**20  # bytes; smaller tables (positions, segments) are looked up in float32
SMALLEST_HALVED = 1024  # numbers; smaller weights (biases, norms) are not worth a rounding
SMALLEST_EXTERNAL = 1024  # bytes; smaller weights stay inside the graph's own file
ALIGNMENT = 64  # bytes; where a weight starts in its file


def quantize(model: ModelProto, *, keep_float: Sequence[str] = ()) -> None:
    """Weights of matrix products and large embedding tables become int8, in place.

    Matrix products become onnxruntime's `MatMulNBits`: weights are scaled per block of input channels, and
    activations, while running, per block of each row. That costs some of the speed of onnxruntime's dynamic
    quantization, which scales all activations of a batch as one, but it loses a third as much accuracy (the
    table is in docs/export.md), and batch mates cannot change a result.

    Nodes whose name contains one of `keep_float` are left alone.
    """
    matrices = {
        tensor.name: tensor
        for tensor in model.graph.initializer
        if tensor.data_type == TensorProto.FLOAT and len(tensor.dims) == 2
    }
    nodes: list[NodeProto] = []
    for node in model.graph.node:
        product = matrices.get(node.input[1]) if node.op_type == "MatMul" else None
        table = matrices.get(node.input[0]) if node.op_type == "Gather" else None
        if any(part in node.name for part in keep_float):
            nodes.append(node)
        elif product is not None:
            nodes.append(_block_product(model, node, numpy_helper.to_array(product)))
        elif table is not None and 4 * int(np.prod(table.dims)) >= SMALLEST_TABLE:
            nodes += _row_lookup(model, node, table.name, numpy_helper.to_array(table))
        else:
            nodes.append(node)
    _replace_nodes(model, nodes)
    if not any(opset.domain == "com.microsoft" for opset in model.opset_import):
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))


def halve(model: ModelProto) -> None:
    """Store weights as float16, in place. The graph widens them when loaded, and computes in float32."""
    casts = []
    for tensor in list(model.graph.initializer):
        if tensor.data_type == TensorProto.FLOAT and int(np.prod(tensor.dims)) >= SMALLEST_HALVED:
            name = tensor.name
            half = numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), f"{name}.half")
            tensor.CopyFrom(half)
            casts.append(helper.make_node("Cast", [half.name], [name], f"{name}.widen", to=TensorProto.FLOAT))
    _replace_nodes(model, [*casts, *model.graph.node])


Stored = dict[bytes, WeightPlace]
"""Weights that lie in files already, by the digest of their bytes."""


def stored_weights(path: Path) -> Stored:
    """The weights that the graph in `path` keeps in files beside it."""
    found: Stored = {}
    for place in weight_places(path).values():
        with path.with_name(place.file).open("rb") as file:
            file.seek(place.offset)
            found[_digest(file.read(place.length))] = place
    return found


def weight_places(path: Path) -> dict[str, WeightPlace]:
    """Where the weights of the graph in `path` lie, by name; those inside the graph itself are left out."""
    found: dict[str, WeightPlace] = {}
    for tensor in onnx.load(path, load_external_data=False).graph.initializer:
        if external_data_helper.uses_external_data(tensor):
            where = external_data_helper.ExternalDataInfo(tensor)
            found[tensor.name] = WeightPlace(where.location, int(where.offset or 0), int(where.length or 0))
    return found


def save(model: ModelProto, path: Path, *, largest_file: int, stored: Stored | None = None) -> list[str]:
    """The graph to `path` and its weights beside it (`NAME.data.0`, ...): no file above `largest_file` bytes.

    A weight that lies in another graph's file already (`onnx_tables`) stays there; one of the same bytes as a `stored`
    weight is read from that one's file, which the caller puts beside the graph. Returns the names of all files needed.
    """
    _cut_large(model, largest_file)
    known = _worth_keeping(stored or {}, model)
    taken = {place.file for place in known.values()}
    files = (name for name in (f"{path.name}.data.{number}" for number in count()) if name not in taken)
    names, position = [path.name], largest_file
    data = None
    try:
        for tensor in _own_weights(model):
            content = numpy_helper.to_array(tensor).tobytes()
            if len(content) < SMALLEST_EXTERNAL:
                continue
            place = known.get(_digest(content)) if known else None
            if place is not None:
                point(tensor, content, place)
                continue
            position += -position % ALIGNMENT
            if position + len(content) > largest_file:
                if data is not None:
                    data.close()
                position = 0
                names.append(next(files))
                data = path.with_name(names[-1]).open("wb")
            assert data is not None  # position starts beyond the limit
            data.seek(position)
            data.write(content)
            point(tensor, content, WeightPlace(names[-1], position, len(content)))
            position += len(content)
    finally:
        if data is not None:
            data.close()
    path.write_bytes(model.SerializeToString())
    return [*names, *sorted(taken)]


def _worth_keeping(stored: Stored, model: ModelProto) -> Stored:
    """Those in files of which this model needs at least half."""
    if not stored:
        return {}
    needed = {_digest(numpy_helper.to_array(tensor).tobytes()) for tensor in _own_weights(model)}
    used, whole = Counter[str](), Counter[str]()
    for digest, place in stored.items():
        whole[place.file] += place.length
        used[place.file] += place.length * (digest in needed)
    return {
        digest: place
        for digest, place in stored.items()
        if digest in needed and 2 * used[place.file] >= whole[place.file]
    }


def point(tensor: TensorProto, content: bytes, place: WeightPlace) -> None:
    """Let a weight be read from a file."""
    tensor.raw_data = content  # set_external_data insists on raw bytes
    external_data_helper.set_external_data(tensor, place.file, offset=place.offset, length=place.length)
    tensor.ClearField("raw_data")
    tensor.ClearField("float_data")


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _block_product(model: ModelProto, node: NodeProto, weight: Array) -> NodeProto:
    """weight [K, N]: int8 around 128, one scale per block of K and column of N."""
    inputs, outputs = weight.shape
    block = block_size(inputs)
    blocks = -(-inputs // block)
    padded = np.zeros((blocks * block, outputs), np.float32)
    padded[:inputs] = weight
    columns = padded.T.reshape(outputs, blocks, block)
    scales = _scales(columns)
    stored = (np.rint(columns / scales) + 128).astype(np.uint8)
    names = [f"{node.name}.int8", f"{node.name}.scales"]
    _add_weights(model, {names[0]: stored, names[1]: scales.reshape(-1)})
    return block_product_node(node, *names, inputs=inputs, outputs=outputs)


def _row_lookup(model: ModelProto, node: NodeProto, name: str, table: Array) -> list[NodeProto]:
    """table [rows, d]: int8 with one scale per row, widened after the lookup."""
    scales = _scales(table.astype(np.float32))  # [rows, 1]
    stored = np.rint(table / scales).astype(np.int8)
    _add_weights(model, {int8_name(name): stored, scales_name(name): scales})
    return row_lookup_nodes(node, name)


def int8_name(table: str) -> str:
    """What the rounded rows of a table are called in a graph, where the table itself was `table`."""
    return f"{table}.int8"


def scales_name(table: str) -> str:
    """What the scales of its rows are called."""
    return f"{table}.scales"


def row_lookup_nodes(node: NodeProto, table: str) -> list[NodeProto]:
    """What takes the place of a lookup in a float table: rounded rows, widened."""
    rows, wide, scale = (f"{node.name}.{part}" for part in ("rows", "wide", "scale"))
    index = node.input[1]
    return [
        helper.make_node("Gather", [int8_name(table), index], [rows], rows),
        helper.make_node("Cast", [rows], [wide], wide, to=TensorProto.FLOAT),
        helper.make_node("Gather", [scales_name(table), index], [scale], scale),
        helper.make_node("Mul", [wide, scale], list(node.output), node.name),
    ]


def block_size(inputs: int) -> int:
    """How many input channels share a scale."""
    return next((size for size in (128, 64, 32) if inputs % size == 0), 16)


def block_product_node(node: NodeProto, stored: str, scales: str, *, inputs: int, outputs: int) -> NodeProto:
    """What takes the place of a matrix product: weights `stored` [outputs, blocks, block], int8 around 128."""
    return helper.make_node(
        "MatMulNBits",
        [node.input[0], stored, scales],
        list(node.output),
        node.name,
        domain="com.microsoft",
        K=inputs,
        N=outputs,
        bits=8,
        block_size=block_size(inputs),
        accuracy_level=4,  # multiply in int8
    )


def _scales(values: Array) -> npt.NDArray[np.float32]:
    """Along the last dimension (kept), so that the largest value becomes 127."""
    largest = np.abs(values).max(-1, keepdims=True).astype(np.float32) / 127
    return np.where(largest == 0, np.float32(1), largest)


def _cut_large(model: ModelProto, largest_file: int) -> None:
    """A weight that fits into no file is stored in parts, joined again when the graph is loaded."""
    joins = []
    for tensor in _own_weights(model):
        array = numpy_helper.to_array(tensor)
        if array.nbytes > largest_file:
            rows = max(1, largest_file // array[:1].nbytes)
            starts = range(0, len(array), rows)
            pieces = {f"{tensor.name}.{start}": array[start : start + rows] for start in starts}
            joins.append(
                helper.make_node("Concat", list(pieces), [tensor.name], f"{tensor.name}.join", axis=0)
            )
            model.graph.initializer.remove(tensor)
            _add_weights(model, pieces)
    _replace_nodes(model, [*joins, *model.graph.node])


def _own_weights(model: ModelProto) -> list[TensorProto]:
    """All but those that lie in a file already."""
    return [
        tensor for tensor in model.graph.initializer if not external_data_helper.uses_external_data(tensor)
    ]


def _add_weights(model: ModelProto, arrays: dict[str, Array]) -> None:
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in arrays.items())


def _replace_nodes(model: ModelProto, nodes: Sequence[NodeProto]) -> None:
    """Put `nodes` in place of the graph's, and drop the weights that none of them reads any more."""
    kept_nodes = list(nodes)
    used = {name for node in kept_nodes for name in node.input}
    kept_weights = [tensor for tensor in model.graph.initializer if tensor.name in used]
    del model.graph.node[:]
    model.graph.node.extend(kept_nodes)
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept_weights)
