"""Search over what a model may write next, for any array library (imports no torch)."""
