"""What is known about people: consent, sentences, and which conversation knows which."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    # nobody is remembered who was not asked
    op.add_column(
        "memory_people", sa.Column("consent", sa.Boolean, nullable=False, server_default=sa.false())
    )
    op.add_column("memory_people", sa.Column("revision", sa.Integer, nullable=False, server_default="0"))
    op.add_column(
        "memory_conversations", sa.Column("joined", sa.Boolean, nullable=False, server_default=sa.false())
    )
    op.create_table(
        "memory_sentences",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(16), nullable=False, unique=True),
        sa.Column(
            "person",
            sa.Integer,
            sa.ForeignKey("memory_people.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column(
            "conversation",
            sa.Integer,
            sa.ForeignKey("memory_conversations.id", ondelete="SET NULL"),
            index=True,
        ),
        sa.Column("turn", sa.Integer),
        sa.Column("text", sa.LargeBinary, nullable=False),
        sa.Column("source", sa.LargeBinary, nullable=False),
        sa.Column("edited", sa.Boolean, nullable=False),
        sa.Column("remembered", sa.Boolean, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column(
            "replaced_by", sa.Integer, sa.ForeignKey("memory_sentences.id", ondelete="SET NULL"), index=True
        ),
        sa.Column("reason", sa.LargeBinary),
        sa.Column("replaced", sa.DateTime),
    )
    op.create_table(
        "memory_beliefs",
        sa.Column(
            "conversation",
            sa.Integer,
            sa.ForeignKey("memory_conversations.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column(
            "sentence", sa.Integer, sa.ForeignKey("memory_sentences.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
    )
    op.create_index("ix_memory_beliefs_sentence", "memory_beliefs", ["sentence"])
