"""The papers' analyses of what is understood, one file per figure."""
