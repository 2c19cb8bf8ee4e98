"""How a reader learns: one head or many, each batch from one of them."""
