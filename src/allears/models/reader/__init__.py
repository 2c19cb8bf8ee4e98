"""One encoder pass, several heads: emotions, strategies, intents and more; and baselines behind the same interface."""
