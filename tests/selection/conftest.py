"""Small models, small tensors: more threads would only wait for each other."""

import torch

torch.set_num_threads(1)
