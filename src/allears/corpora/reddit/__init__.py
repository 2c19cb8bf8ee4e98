"""Building persona-based corpora from Reddit dumps."""
