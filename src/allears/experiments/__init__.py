"""The papers' tables and figures, one file each: what is trained, what is measured, and which cell comes from where."""
