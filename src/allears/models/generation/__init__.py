"""Models that write: one file per paper, their shared parts, and how a trained one is saved and opened."""
