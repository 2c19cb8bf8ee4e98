"""How response selection learns: data, losses, hard negatives, teachers."""
