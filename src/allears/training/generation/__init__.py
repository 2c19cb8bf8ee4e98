"""How generators learn: likelihood, strategies, rewards."""
