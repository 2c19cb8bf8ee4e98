"""Who somebody is, from what they say: the persona extractor of PAL (section 3.2)."""
