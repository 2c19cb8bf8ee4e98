"""From trained models to a bundle for the light runtime. Needs torch; what it writes does not."""
