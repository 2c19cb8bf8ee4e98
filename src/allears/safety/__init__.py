"""The crisis screen, its fixed replies and help lines, and the review of our own words."""
