"""`allears evaluate scorer`: how well the scorer tells good replies from others."""

from __future__ import annotations

from allears.cli import options
from allears.cli.options import JsonTables, argument
from allears.cli.output import console, plain_table, print_json


def scorer(
    bundle: str = argument("A bundle with a scorer, or `default`.", default="default"),
    *,
    split: options.Splits = "valid",
    root: options.Root = None,
    limit: options.SampleOfSplit = None,
    seed: options.SelectionSeed = 0,
    as_json: JsonTables = False,
) -> None:
    """How well a bundle's scorer tells good replies from others, on replies that blind readers marked.

    Examples:

        allears evaluate scorer

        allears evaluate scorer --split test --json
    """
    from allears.cli.progress import watched
    from allears.corpora.heads import head
    from allears.evaluation.sampling import plain_sample
    from allears.evaluation.scorer import evaluate_scorer
    from allears.runtime.onnx_scorer import FIT, OnnxScorer

    opened = OnnxScorer.from_bundle(bundle)
    readings = plain_sample(head(FIT).read(split, root), limit, seed)
    found = evaluate_scorer(opened, list(watched(readings, "reading replies", len(readings)))).flat()
    if as_json:
        print_json({"bundle": bundle, "split": split} | found)
        return
    table = plain_table(
        f"the scorer of {bundle} on {found['n']:,} marked replies of {split}", "", numbers=["%"]
    )
    table.add_row("a good reply is worth more than one that is off", f"{found['auc_good_off']:.1f}")
    table.add_row("a good reply is worth more than any other", f"{found['auc_good_rest']:.1f}")
    table.add_row("named right (good, plain, off)", f"{found['accuracy']:.1f}")
    table.add_row("gap between how likely and how often good", f"{found['ece']:.1f}")
    console.print(table)
