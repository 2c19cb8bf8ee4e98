"""People, their conversations and the requests that were done."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "memory_vault",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("salt", sa.LargeBinary, nullable=False),
        sa.Column("wrapped_key", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "memory_people",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(64), nullable=False, unique=True),
        sa.Column("ticks", sa.Integer, nullable=False),
    )
    op.create_table(
        "memory_conversations",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(16), nullable=False, unique=True),
        sa.Column(
            "person",
            sa.Integer,
            sa.ForeignKey("memory_people.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("started", sa.DateTime, nullable=False),
        sa.Column("last", sa.DateTime, nullable=False),
        sa.Column("tick", sa.Integer, nullable=False),
        sa.Column("state", sa.LargeBinary),
    )
    op.create_table(
        "memory_turns",
        sa.Column(
            "conversation",
            sa.Integer,
            sa.ForeignKey("memory_conversations.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("speaker", sa.String(16), nullable=False),
        sa.Column("text", sa.LargeBinary, nullable=False),
        sa.Column("details", sa.LargeBinary),
        sa.Column("why", sa.LargeBinary),
        sa.Column("before", sa.LargeBinary),
        sa.Column("said", sa.DateTime, nullable=False),
    )
    op.create_table(
        "memory_requests",
        sa.Column(
            "person", sa.Integer, sa.ForeignKey("memory_people.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column(
            "conversation",
            sa.Integer,
            sa.ForeignKey("memory_conversations.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
    )
