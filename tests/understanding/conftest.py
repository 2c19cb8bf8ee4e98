"""Small models, small tensors: more threads would only wait for each other."""

import torch

from training_fixtures import corpus_root, tiny_encoder  # noqa: F401 - fixtures

torch.set_num_threads(1)
