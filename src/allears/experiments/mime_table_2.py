"""MIME, Table 2: size and BLEU beside MoEL and Multi-TR (the columns that need no people)."""

from __future__ import annotations

from allears.experiments.contract import Ask, Claim, Empty, Experiment, Key, Plan, by_rows, measure, take
from allears.experiments.setting import Setting
from allears.experiments.shared_runs import MIME, MIME_IMPROVED, MOEL, MULTITASK, generation_measured

RUNS = {"Multi-TR": MULTITASK, "MoEL": MOEL, "MIME": MIME, "MIME improved": MIME_IMPROVED}
AS_THE_OTHERS = "MIME improved, decoded as the others"
SIZE, BLEU, PPL, PPL_WORD = "parameters, millions", "BLEU", "PPL", "PPL per word"
DECODING = "beam-5,length_penalty=3"
OWN_DECODING = {"MIME improved": "beam-5,shortest=12,repetition_penalty=1.1,length_penalty=1"}
PEOPLE = ("empathy", "relevance", "fluency")
_PUBLISHED = {
    "Multi-TR": (16.95, 2.92, 3.67, 3.47, 4.30),
    "MoEL": (23.10, 2.90, 3.71, 3.32, 4.31),
    "MIME": (17.80, 2.98, 3.87, 3.60, 4.28),
}


def plan(setting: Setting) -> Plan:
    asks: dict[Key, Ask] = {}
    for row, run in RUNS.items():
        asked = generation_measured(setting, run, decoding=OWN_DECODING.get(row, DECODING))
        asks[row, SIZE] = take("parameters", measure("size", run), times=1e-6)
        asks[row, BLEU], asks[row, PPL] = take("moses_bleu", *asked), take("ppl", *asked)
        asks[row, PPL_WORD] = take("ppl_word", *asked)
        for column in PEOPLE:
            asks[row, column] = Empty("people rate this: `allears study new likert` asks them")
    # its size and its perplexities do not depend on the decoding
    asks[AS_THE_OTHERS, BLEU] = take(
        "moses_bleu", *generation_measured(setting, MIME_IMPROVED, decoding=DECODING)
    )
    return Plan((*RUNS, AS_THE_OTHERS), (SIZE, BLEU, PPL, PPL_WORD, *PEOPLE), asks)


EXPERIMENT = Experiment(
    name="mime-table-2",
    paper="MIME",
    place="Table 2",
    question="Does MIME write better than MoEL and Multi-TR, with no more parameters?",
    plan=plan,
    published=by_rows((SIZE, BLEU, *PEOPLE), _PUBLISHED) | {("MIME", PPL): 38.3},
    source="MIME, Table 2 (test split); MIME's PPL from notes.md, by people who re-ran its public code (they also "
    "found BLEU 2.5 to 2.6)",
    differs=(
        "The valid split. GloVe vectors of 100 dimensions laid into 300.",
        "Multi-TR and MIME start from a Transformer that has seen other dialogue (recipes/word-pretrain.toml), MoEL "
        "from such a MoEL (recipes/moel-pretrain.toml); all learn both speakers' turns.",
        "Beam search of five with a length penalty of 3, which was chosen on 400 examples of this split for MIME; "
        "without it MIME's BLEU is 2.39.",
        "Other words (40,004: no test split, other dialogue), tied output vectors, and what that saves spent on "
        "depth. With the papers' 24,647 words, `allears train` prints, Multi-TR, MoEL and MIME have 17.55, "
        "22.35 and 18.10 million parameters.",
        "BLEU-4 as Moses computes it, on words as MoEL's code cuts them.",
        "MIME improved is ours: word pieces, the shipped bundle's encoder, more dialogue "
        "(recipes/ed-mime-improved.toml). Its PPL counts word pieces, that of the others words: only PPL per word "
        "compares them.",
        "MIME improved has a decoding of its own, the best of 19 that were tried on this split for it alone (18 on "
        "600 examples, 6 on all). The others got no such search: what it would bring them is not known. The last row "
        "is decoded as the others are; there MIME improved is below Multi-TR in BLEU-1, BLEU-2 and the mean of BLEU-1 "
        "to BLEU-4 (docs/models/mime.md).",
        "MIME improved was trained and measured with torch 2.11.0, transformers 5.17.0 and numpy 2.5.2. Training was "
        "stopped once and went on from its checkpoint: the time below has only the second part, 97 s.",
    ),
    claims=(
        Claim(
            "MIME > Multi-TR > MoEL (BLEU)",
            (("MIME", BLEU), ("Multi-TR", BLEU), ("MoEL", BLEU)),
            "All three start from a Transformer that can already talk; from there they end within 0.2 of each other, "
            "in the paper within 0.1.",
        ),
        Claim(
            "MIME improved has the lowest PPL per word",
            (("Multi-TR", PPL_WORD), ("MIME improved", PPL_WORD)),  # the others' lowest
        ),
        Claim(
            "Headline: MIME's BLEU above the paper's, 2.98",
            (("MIME", BLEU), 2.98),
            "Below the paper, and above what people got who re-ran its public code (2.5 to 2.6).",
        ),
        Claim("Headline: MIME's PPL below that of its public code, 38.3", (38.3, ("MIME", PPL))),
    ),
    decimals=2,
)
