"""What the crisis screen learns from, and how sure it must be."""
