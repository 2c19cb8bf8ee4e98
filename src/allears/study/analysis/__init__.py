"""What the answers say: pure functions on judgements, and the tables and pictures of the papers."""
