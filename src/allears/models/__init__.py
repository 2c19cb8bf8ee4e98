"""The papers' models: one file each in `selection/` and `generation/`; the reader; the persona extractor."""
