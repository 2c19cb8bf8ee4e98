"""PAL, Figure 5: Figure 3 with word vectors."""

from __future__ import annotations

from functools import partial

from allears.experiments.contract import Claim, Experiment, Picture
from allears.experiments.pal_figure_3 import slopes

EXPERIMENT = Experiment(
    name="pal-figure-5",
    paper="PAL",
    place="Figure 5",
    question="Do seekers give better marks where replies are nearer to what is known of them (word vectors)?",
    plan=partial(slopes, encoder="vectors"),
    differs=("GloVe vectors of 100 dimensions, not fastText's; the valid split of PESConv.",),
    claims=(
        Claim(
            "Word vectors show it too: more empathy",
            (("empathy", "slope"), 0.0),
            "The slope is next to nothing, as it is with the sentence encoder in Figure 3, where it happens to be "
            "positive.",
        ),
    ),
    decimals=4,
    picture=Picture("bars", "", "slope of similarity over marks", ("slope",)),
)
