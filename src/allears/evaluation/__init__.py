"""Measuring anything: rankers, generators, readers, the screen, whole conversations and blind readers' marks."""
