"""`allears evaluate scorer`: how well the scorer tells good replies from others."""

from __future__ import annotations

from allears.cli import options
from allears.cli.options import JsonTables
from allears.cli.output import console, plain_table, print_json


def scorer(
    *,
    split: options.Splits = "valid",
    root: options.Root = None,
    limit: options.SampleOfSplit = None,
    seed: options.SelectionSeed = 0,
    as_json: JsonTables = False,
) -> None:
    """How well CoBERT, which chooses among drafts, tells good replies from others that blind readers marked.

    Examples:

        allears evaluate scorer

        allears evaluate scorer --split test --json
    """
    from allears.cli.progress import watched
    from allears.corpora import read
    from allears.evaluation.sampling import plain_sample
    from allears.evaluation.scorer import evaluate_scorer
    from allears.listener.fitting import CobertScorer
    from allears.runtime.onnx_selector import OnnxSelector

    opened = CobertScorer(OnnxSelector.from_bundle())
    replies = plain_sample(list(read("marked-replies", split, root)), limit, seed)
    found = evaluate_scorer(opened, list(watched(replies, "reading replies", len(replies)))).flat()
    if as_json:
        print_json({"split": split} | found)
        return
    table = plain_table(f"the scorer on {found['n']:,} marked replies of {split}", "", numbers=["%"])
    table.add_row("a good reply is scored above one that is off", f"{found['auc_good_off']:.1f}")
    table.add_row("a good reply is scored above any other", f"{found['auc_good_rest']:.1f}")
    console.print(table)
