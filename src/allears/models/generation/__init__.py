"""Models that write. `decoding/` holds search, for torch on a GPU and ONNX on a CPU alike."""
