"""How the persona extractor and its teacher learn."""
