"""The training loop, its recipes and its checkpoints. It knows tasks, and no model by name."""
