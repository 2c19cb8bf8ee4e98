"""Who somebody is, from what they say: what may be noted, what contradicts what, where it was said."""
