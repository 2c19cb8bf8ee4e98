"""`python -m allears`, and what `accelerate launch -m allears` starts."""

from allears.cli import main

main()
