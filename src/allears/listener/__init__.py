"""The listener: one turn, from the message to the reply and its reasons."""
