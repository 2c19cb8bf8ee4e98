"""From queries and candidates to padded tokens: the same few lines for training, torch and ONNX."""

from __future__ import annotations

from collections.abc import Sequence

from allears.runtime.selector import Query
from allears.text.layout import Limits, Tokens, context_rows, flatten, pad_flat, pad_nested, plain_rows
from allears.text.tokenizer import Tokenizer


def response_tokens(texts: Sequence[str], tokenizer: Tokenizer, limits: Limits) -> Tokens:
    """[N, L]. A response is the supporter's, so its segment is 1 like the supporter's turns in a context."""
    rows = plain_rows(tokenizer.encode_many(texts), limits.response_tokens, segment=1)
    return pad_flat([flatten([row], tokenizer) for row in rows], tokenizer.pad)


def query_tokens(queries: Sequence[Query], tokenizer: Tokenizer, limits: Limits, *, nested: bool) -> Tokens:
    """The contexts: [B, L], or [B, utterances, L] when nested."""
    pieces = iter(tokenizer.encode_many([turn.text for query in queries for turn in query.context]))
    groups = [context_rows(query.context, [next(pieces) for _ in query.context], limits) for query in queries]
    if nested:
        return pad_nested(groups, tokenizer)
    return pad_flat([flatten(rows, tokenizer) for rows in groups], tokenizer.pad)


def persona_tokens(
    queries: Sequence[Query], tokenizer: Tokenizer, limits: Limits, *, nested: bool
) -> Tokens | None:
    """The personas, likewise; None when nobody has one. A query without persona is all padding."""
    kept = [query.persona[: limits.persona_sentences] for query in queries]
    if not any(kept):
        return None
    pieces = iter(tokenizer.encode_many([text for persona in kept for text in persona]))
    groups = [
        plain_rows([next(pieces) for _ in persona], limits.persona_sentence_tokens, segment=1)
        for persona in kept
    ]
    if nested:
        return pad_nested(groups, tokenizer)
    return pad_flat([flatten(rows, tokenizer) if rows else ([], []) for rows in groups], tokenizer.pad)
