"""Building blocks used by more than one model. Imports torch; the light runtime never comes here."""
