"""Response selection: one file per model, and how a trained one is saved and opened."""
