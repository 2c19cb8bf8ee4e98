"""The study's tables. What participants write and choose is JSON in ASCII (`Text`), which every database takes."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

VERSION = 1

metadata = MetaData()

versions = Table("study_version", metadata, Column("version", Integer, primary_key=True, autoincrement=False))

studies = Table(
    "study_studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("digest", String(64), nullable=False),  # of what was frozen when the study began
    Column("secret", String(64), nullable=False),  # makes tokens of other platforms' ids
    Column("open_token", String(64), nullable=False),
    Column("ticks", Integer, nullable=False),  # counts writes: what came first, whatever the clock says
)

raters = Table(
    "study_raters",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("study", ForeignKey(studies.c.id), nullable=False),
    Column("name", String(16), nullable=False, unique=True),  # random; the only thing an export tells
    Column("token", String(64), nullable=False, unique=True),  # its SHA-256; ids of platforms are nowhere
    Column("source", String(16), nullable=False),  # link, open, prolific, mturk
    Column("state", String(16), nullable=False),
    Column("code", String(16), nullable=False, unique=True),  # to be returned at the end
    Column("failed", Integer, nullable=False),  # attention checks
    Column("offer", Text),  # the emotions offered, as JSON
    Column("entered", Float, nullable=False),
    Index("ix_study_raters_study", "study"),
)

units = Table(
    "study_units",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("study", ForeignKey(studies.c.id), nullable=False),
    Column("key", String(64), nullable=False),
    Column("item", Text, nullable=False),  # JSON
    Column("systems", Text, nullable=False),  # JSON
    Column("check_number", Integer),
    UniqueConstraint("study", "key"),
)

assignments = Table(
    "study_assignments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", String(32), nullable=False, unique=True),  # random: what a rater's page calls it
    Column("rater", ForeignKey(raters.c.id, ondelete="CASCADE"), nullable=False),
    Column("unit", ForeignKey(units.c.id), nullable=False),
    Column("sides", String(8), nullable=False),  # "01" or "10": which system is shown first
    Column("state", String(16), nullable=False),
    Column("given", Float, nullable=False),
    Column("touched", Float, nullable=False),  # the last sign of life
    Column("answers", Text),  # JSON
    Column("vote", Text),  # JSON: the answer to the deciding question, by system
    Column("number", Integer),  # the tick it was answered at
    Column("seconds", Float),
    # a rater answers a unit once: whatever goes wrong above this line, the database does not take a second
    UniqueConstraint("rater", "unit"),
    Index("ix_study_assignments_unit", "unit"),
)

lines = Table(  # of chats with the systems under test
    "study_lines",
    metadata,
    Column("assignment", ForeignKey(assignments.c.id, ondelete="CASCADE"), primary_key=True),
    Column("side", Integer, primary_key=True, autoincrement=False),  # the system's place in its unit
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),  # JSON
    Column("said", Float, nullable=False),
    Column("care", Boolean, nullable=False),  # the crisis screen answered
)

situations = Table(
    "study_situations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("rater", ForeignKey(raters.c.id, ondelete="CASCADE"), nullable=False),
    Column("emotion", String(64), nullable=False),
    Column("text", Text, nullable=False),  # JSON
    Column("state", String(16), nullable=False),  # waiting, paired, done
    Column("number", Integer, nullable=False),
    Column("since", Float, nullable=False),
    Column("seen", Float, nullable=False),
    Index("ix_study_situations_rater", "rater"),
)

pairs = Table(
    "study_pairs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", String(32), nullable=False, unique=True),
    Column("study", ForeignKey(studies.c.id), nullable=False),
    # whose situation is talked about first, and second; NULL when that person withdrew
    Column("first", ForeignKey(situations.c.id, ondelete="SET NULL")),
    Column("second", ForeignKey(situations.c.id, ondelete="SET NULL")),
    Column("state", String(16), nullable=False),  # talking, over, left
    Column("talk", Integer, nullable=False),  # 1 or 2
    Column("version", Integer, nullable=False),
    Index("ix_study_pairs_study", "study"),
)

pair_lines = Table(
    "study_pair_lines",
    metadata,
    Column("pair", ForeignKey(pairs.c.id, ondelete="CASCADE"), primary_key=True),
    Column("talk", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("rater", ForeignKey(raters.c.id, ondelete="CASCADE"), nullable=False),
    Column("text", Text, nullable=False),  # JSON
    Column("said", Float, nullable=False),
)
