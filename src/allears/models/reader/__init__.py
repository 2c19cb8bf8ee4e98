"""What a person feels, needs and means: label sets, heads, classifiers, and one reader with every head."""
