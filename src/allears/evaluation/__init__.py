"""Measuring what the listener says: scripted conversations, and blind readers' marks."""
