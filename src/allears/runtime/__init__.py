"""What runs without torch: bundles, ONNX sessions, language models, the index of replies, remote endpoints."""
