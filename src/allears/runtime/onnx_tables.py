"""One word table for two graphs of a bundle: the second reads the first one's file, and stores nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper

from allears.errors import AllearsError
from allears.runtime.onnx_weights import (
    block_product_node,
    block_size,
    int8_name,
    row_lookup_nodes,
    scales_name,
)


@dataclass(frozen=True, slots=True)
class SharedTable:
    """A table [rows, width] as another graph stores it: where its bytes lie, and the nodes that make it of them."""

    name: str
    rows: int
    width: int
    weights: tuple[TensorProto, ...]
    nodes: tuple[NodeProto, ...]
    rounded: bool  # to int8, with a scale per row


def find_table(path: Path, name: str, *, rows: int, width: int) -> SharedTable:
    """The table `name` of the graph in `path`, in whatever precision and number of pieces it is stored there."""
    graph = onnx.load(path, load_external_data=False).graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    makers = {output: node for node in graph.node for output in node.output}
    rounded = int8_name(name) in weights or int8_name(name) in makers
    if not rounded and name not in weights and name not in makers:
        raise AllearsError(
            f"{path}: its word table is not where this version of allears puts it, so nothing else can share it; "
            "export the bundle again"
        )
    needed = _before([int8_name(name), scales_name(name)] if rounded else [name], makers)
    return SharedTable(
        name,
        rows,
        width,
        tuple(weights[each] for each in sorted(needed) if each in weights),
        tuple(node for node in graph.node if not set(node.output).isdisjoint(needed)),
        rounded,
    )


def use_table(model: ModelProto, table: SharedTable, *, instead_of: str, many_rows: bool = False) -> None:
    """Read a shared table where the graph had an input for one, in place.

    `many_rows`: products with its transpose are for several rows at a time. They are then rounded row by row and
    multiplied as integers, which for one row costs the same as in blocks, and for six rows about half.
    """
    kept = [item for item in model.graph.input if item.name != instead_of]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    nodes = list(model.graph.node)
    if table.rounded:
        nodes = _on_rounded(nodes, table, instead_of, many_rows)
    else:
        nodes = [helper.make_node("Identity", [table.name], [instead_of], f"{instead_of}.shared"), *nodes]
    del model.graph.node[:]
    model.graph.node.extend([*table.nodes, *nodes])
    model.graph.initializer.extend(table.weights)


def _before(wanted: Iterable[str], makers: dict[str, NodeProto]) -> set[str]:
    """Everything that is needed to compute `wanted`, themselves included."""
    found: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += makers[name].input if name in makers else ()
    return found


def _on_rounded(
    nodes: list[NodeProto], table: SharedTable, instead_of: str, many_rows: bool
) -> list[NodeProto]:
    """Lookups and products with the table's transpose, on int8 rows. The tracer knows no other use of a table."""
    same, turned = {instead_of}, set()  # what the graph calls the table, and its transpose
    found: list[NodeProto] = []
    multiplies = False
    for node in nodes:
        first, second = [*node.input, "", ""][:2]
        if node.op_type == "Cast" and first in same:
            same.add(node.output[0])
        elif node.op_type == "Transpose" and first in same:
            turned.add(node.output[0])
        elif node.op_type == "Gather" and first in same:
            found += row_lookup_nodes(node, table.name)
        elif node.op_type == "MatMul" and second in turned:
            multiplies = True
            if many_rows:
                found += _integer_product(node)
            else:
                found.append(block_product_node(node, *_BLOCKS, inputs=table.width, outputs=table.rows))
        else:
            found.append(node)
    if not multiplies:
        return found
    return [*(_as_columns(table) if many_rows else _as_blocks(table)), *found]


_ZERO = helper.make_tensor("zero", TensorProto.INT32, [], [128])  # products want int8 around 128
_BLOCKS = ("table.blocks", "table.block_scales")


def _as_blocks(table: SharedTable) -> list[NodeProto]:
    """The rows in blocks, each with the scale of its row; done once, when the graph is loaded."""
    block = block_size(table.width)
    if table.width % block:
        raise AllearsError(
            f"a word table of {table.width} columns cannot be shared in int8, only one of a multiple of {block}; "
            "export with --precision float16"
        )
    blocks = table.width // block
    stored, scales = _BLOCKS
    return [
        helper.make_node("Cast", [int8_name(table.name)], ["table.wide"], to=TensorProto.INT32),
        helper.make_node("Constant", [], ["table.zero"], value=_ZERO),
        helper.make_node("Add", ["table.wide", "table.zero"], ["table.around_zero"]),
        helper.make_node("Cast", ["table.around_zero"], ["table.bytes"], to=TensorProto.UINT8),
        helper.make_node("Constant", [], ["table.cut"], value_ints=[table.rows, blocks, block]),
        helper.make_node("Reshape", ["table.bytes", "table.cut"], [stored], stored),
        helper.make_node("Constant", [], ["table.each"], value_ints=[table.rows, blocks]),
        helper.make_node("Expand", [scales_name(table.name), "table.each"], ["table.wide_scales"]),
        helper.make_node("Constant", [], ["table.flat"], value_ints=[-1]),
        helper.make_node("Reshape", ["table.wide_scales", "table.flat"], [scales], scales),
    ]


_COLUMNS = ("table.columns", "table.column_scales")


def _as_columns(table: SharedTable) -> list[NodeProto]:
    """The rows as columns, and their scales; done once, when the graph is loaded."""
    stored, scales = _COLUMNS
    return [
        helper.make_node("Transpose", [int8_name(table.name)], [stored], stored, perm=[1, 0]),
        helper.make_node("Constant", [], ["table.flat"], value_ints=[-1]),
        helper.make_node("Reshape", [scales_name(table.name), "table.flat"], [scales], scales),
        *(
            helper.make_node("Constant", [], [f"table.{name}"], value=value)
            for name, value in _NUMBERS.items()
        ),
    ]


_NUMBERS = {
    "one": helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]),
    "most": helper.make_tensor("most", TensorProto.FLOAT, [], [127.0]),
    "least": helper.make_tensor("least", TensorProto.FLOAT, [], [1e-12]),
    "middle": helper.make_tensor("middle", TensorProto.FLOAT, [], [128.0]),
    "zero": helper.make_tensor("zero", TensorProto.UINT8, [], [128]),
}


def _integer_product(node: NodeProto) -> list[NodeProto]:
    """x E^T: each row of x becomes int8 around 128 with a scale of its own, so that company changes nothing."""
    stored, scales = _COLUMNS
    name = {
        part: f"{node.name}.{part}"
        for part in ("size", "top", "some", "scale", "steps", "near", "moved", "bytes", "product")
    }
    return [
        helper.make_node("Abs", [node.input[0]], [name["size"]], name["size"]),
        helper.make_node("ReduceMax", [name["size"]], [name["top"]], name["top"], axes=[-1], keepdims=1),
        helper.make_node("Max", [name["top"], "table.least"], [name["some"]], name["some"]),
        helper.make_node("Div", [name["some"], "table.most"], [name["scale"]], name["scale"]),
        helper.make_node("Div", [node.input[0], name["scale"]], [name["steps"]], name["steps"]),
        helper.make_node("Round", [name["steps"]], [name["near"]], name["near"]),
        helper.make_node("Add", [name["near"], "table.middle"], [name["moved"]], name["moved"]),
        helper.make_node("Cast", [name["moved"]], [name["bytes"]], name["bytes"], to=TensorProto.UINT8),
        helper.make_node(
            "MatMulIntegerToFloat",
            [name["bytes"], stored, "table.one", scales, "table.zero"],
            [name["product"]],
            name["product"],
            domain="com.microsoft",
        ),
        helper.make_node("Mul", [name["product"], name["scale"]], list(node.output), node.name),
    ]
