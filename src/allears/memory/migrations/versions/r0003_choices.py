"""What people chose for a conversation (its title, who answers), and whether they were asked to be remembered."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("memory_conversations", sa.Column("choices", sa.LargeBinary))
    op.add_column("memory_people", sa.Column("asked", sa.Boolean, nullable=False, server_default=sa.false()))
    people = sa.table("memory_people", sa.column("asked", sa.Boolean), sa.column("consent", sa.Boolean))
    # whoever said no before is asked once more: a no and a never asked looked the same
    op.execute(people.update().where(people.c.consent == sa.true()).values(asked=sa.true()))
