"""Human evaluation: designs, assignment, answers, paired conversations and their analysis."""
