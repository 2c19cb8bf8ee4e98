"""How the tables came to be what they are. Alembic runs these; `schema` decides when."""
