"""Measures: pure functions on arrays and texts. Every share is a percentage (0 to 100)."""
