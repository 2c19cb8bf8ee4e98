"""Training a language-model voice on whole conversations: likelihood first, then preferences."""
