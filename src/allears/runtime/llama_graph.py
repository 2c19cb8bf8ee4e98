"""A Llama-family model as one ONNX graph, written by hand: it reads a prompt, goes on with one, and takes single steps.

    x = E[ids]
    each layer:  x += W_o attention(rope(W_q n(x)), rope(W_k n(x)), W_v n(x))
                 x += W_down (silu(W_gate n(x)) * W_up n(x))
    logits = U n(x)[wanted]

Inputs: ids [B, T]; lengths [B], the tokens of each row with these, less one; total, the most of them; wanted [N],
whose logits are asked for, as places in the B T tokens; keys and values of each layer [B, key heads, room, head size],
which a caller may bind as inputs and outputs at once, so that a step copies nothing.

By hand, because onnxruntime has an attention with rotation, grouped heads and a cache in one operator
(`GroupQueryAttention`), which no exporter makes of torch's; small operators would cost more than the products.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

from allears.runtime.llama import Floats, Llama
from allears.runtime.onnx_weights import quantize

OPSET = 21


class _Graph:
    """Nodes and weights as they are added, each with a name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[TensorProto] = []

    def add(
        self, kind: str, inputs: list[str], name: str, *, outputs: list[str] | None = None, **options: Any
    ) -> str:
        self.nodes.append(helper.make_node(kind, inputs, outputs or [name], name, **options))
        return (outputs or [name])[0]

    def weight(self, name: str, values: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def product(self, states: str, name: str, *matrices: Floats) -> str:
        """states W^T for matrices [outputs, inputs], joined by their outputs."""
        weight = self.weight(f"{name}.weight", np.concatenate(matrices).T)
        return self.add("MatMul", [states, weight], name)


def llama_graph(
    llama: Llama, extra_inputs: Floats, extra_outputs: Floats, extra_bias: Floats, *, int8: bool = True
) -> ModelProto:
    """The graph, with tokens behind the vocabulary: their vectors going in and coming out (both [tokens, d]) and their
    bias."""
    shape, weights, graph = llama.shape, llama.weights, _Graph()
    words = weights["model.embed_tokens.weight"]
    table = graph.weight("table", np.concatenate([words, extra_inputs]))
    states = graph.add("Gather", [table, "ids"], "embedded")
    turns = np.outer(
        np.arange(shape.longest),
        shape.rope_base ** (-np.arange(0, shape.head_size, 2, dtype=np.float64) / shape.head_size),
    )
    cosines = graph.weight("cosines", np.cos(turns).astype(np.float32))
    sines = graph.weight("sines", np.sin(turns).astype(np.float32))
    caches: list[str] = []
    change = ""  # what the last part adds to the states: added and normalised in one
    for number in range(shape.layers):
        layer = f"model.layers.{number}"
        own = {
            name.removeprefix(layer + "."): value
            for name, value in weights.items()
            if name.startswith(layer + ".")
        }
        norm = own["input_layernorm.weight"]
        states, normed = _normed(graph, states, change, f"{layer}.first_norm", norm, shape.epsilon)
        joined = graph.product(
            normed, f"{layer}.query_key_value", *(own[f"self_attn.{part}_proj.weight"] for part in "qkv")
        )
        caches += [f"key.{number}", f"value.{number}"]
        seen = graph.add(
            "GroupQueryAttention",
            [joined, "", "", *caches[-2:], "lengths", "total", cosines, sines],
            f"{layer}.attention",
            outputs=[f"{layer}.seen", *(f"new.{name}" for name in caches[-2:])],
            domain="com.microsoft",
            num_heads=shape.heads,
            kv_num_heads=shape.key_heads,
            do_rotary=1,
        )
        change = graph.product(seen, f"{layer}.output", own["self_attn.o_proj.weight"])
        states, normed = _normed(
            graph,
            states,
            change,
            f"{layer}.second_norm",
            own["post_attention_layernorm.weight"],
            shape.epsilon,
        )
        both = graph.product(
            normed, f"{layer}.gate_up", own["mlp.gate_proj.weight"], own["mlp.up_proj.weight"]
        )
        gate, up = f"{layer}.gate", f"{layer}.up"
        graph.add("Split", [both], f"{layer}.split", outputs=[gate, up], axis=-1, num_outputs=2)
        opened = graph.add("QuickGelu", [gate], f"{layer}.opened", domain="com.microsoft", alpha=1.0)  # silu
        inner = graph.add("Mul", [opened, up], f"{layer}.inner")
        change = graph.product(inner, f"{layer}.down", own["mlp.down_proj.weight"])
    _, normed = _normed(graph, states, change, "last_norm", weights["model.norm.weight"], shape.epsilon)
    flat = graph.weight("flat", np.array([-1, shape.size], np.int64))
    chosen = graph.add("Gather", [graph.add("Reshape", [normed, flat], "rows"), "wanted"], "chosen")
    outputs = graph.product(chosen, "plain_logits", weights.get("lm_head.weight", words), extra_outputs)
    bias = graph.weight(
        "bias", np.concatenate([np.zeros(len(words), np.float32), extra_bias.astype(np.float32)])
    )
    graph.add("Add", [outputs, bias], "logits")
    return _model(graph, caches, shape.key_heads, shape.head_size, int8)


def _normed(
    graph: _Graph, states: str, change: str, name: str, weight: Floats, epsilon: float
) -> tuple[str, str]:
    """The states with what is added to them, and those normalised."""
    scale = graph.weight(f"{name}.weight", weight)
    if not change:
        return states, graph.add(
            "SimplifiedLayerNormalization", [states, scale], name, axis=-1, epsilon=epsilon, stash_type=1
        )
    added = f"{name}.added"
    graph.add(
        "SkipSimplifiedLayerNormalization",
        [states, change, scale],
        name,
        outputs=[name, "", "", added],
        domain="com.microsoft",
        epsilon=epsilon,
    )
    return added, name


def _model(graph: _Graph, caches: list[str], heads: int, size: int, int8: bool) -> ModelProto:
    def tensor(name: str, kind: int, dims: list[str | int]) -> Any:
        return helper.make_tensor_value_info(name, kind, dims)

    inputs = [
        tensor("ids", TensorProto.INT64, ["rows", "tokens"]),
        tensor("lengths", TensorProto.INT32, ["rows"]),
        tensor("total", TensorProto.INT32, [1]),
        tensor("wanted", TensorProto.INT64, ["asked"]),
        *(tensor(name, TensorProto.FLOAT, ["rows", heads, "room", size]) for name in caches),
    ]
    outputs = [
        tensor("logits", TensorProto.FLOAT, ["asked", "vocabulary"]),
        *(tensor(f"new.{name}", TensorProto.FLOAT, ["rows", heads, "new room", size]) for name in caches),
    ]
    body = helper.make_graph(graph.nodes, "llama", inputs, outputs, graph.weights)
    model = helper.make_model(
        body,
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)],
        ir_version=10,
    )
    if int8:
        quantize(model, keep_float=())
    return model
