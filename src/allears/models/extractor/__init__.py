"""The persona extractor of PAL (section 3.2): its model, its teacher, and how it is opened."""
