"""The crisis screen, its fixed replies, and the review of our own words."""
