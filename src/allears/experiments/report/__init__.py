"""The report: Markdown pages and a static site, both drawn from `results.json` alone."""
