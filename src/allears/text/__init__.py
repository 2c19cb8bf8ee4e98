"""From text to numbers: tokenizers, vocabularies, and the layouts that models read."""
