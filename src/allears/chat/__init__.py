"""The conversation in a terminal, or through a pipe. `session` needs neither; `cli.chat` only starts it."""
