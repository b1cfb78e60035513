"""The tables of a store.

Columns hold only what is released or sealed: bits, draws and states of local learners in the clear; costs
along chains and states with exact sums sealed by the caller.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

#: One row: which version of the tables these are. See `schema.SCHEMA`.
schema_version = Table("schema_version", metadata, Column("version_num", Text, nullable=False))

#: Facts about the whole store, such as the fingerprint of the key.
meta = Table("meta", metadata, Column("key", Text, primary_key=True), Column("value", Text, nullable=False))

populations = Table(
    "populations",
    metadata,
    Column("name", Text, primary_key=True),
    Column("epsilon_limit", Double),
)

learners = Table(
    "learners",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("settings", Text, nullable=False),
    Column("population", Text, ForeignKey("populations.name")),
    Column("epsilon", Double, nullable=False),
    Column("deadline", Double, nullable=False),
    Column("lineage", Text, nullable=False, unique=True),
    Column("secret", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("swept", BigInteger, nullable=False, server_default="0"),
    Column("revision", Integer, nullable=False, server_default="0"),
    Column("state", LargeBinary, nullable=False),
    UniqueConstraint("name", "epoch"),
)

#: Closed once (`how`, `closed_at`), then stored for idempotency until compacted. No index changes when a
#: decision is closed. SQLite stores rows in the order of insertion, so closing many touches few pages.
decisions = Table(
    "decisions",
    metadata,
    Column("id", LargeBinary, primary_key=True),
    Column("learner", Integer, nullable=False),
    Column("draw", LargeBinary, nullable=False),
    Column("subset", LargeBinary, nullable=False),
    Column("asked_at", BigInteger, nullable=False),
    Column("closed_at", BigInteger),
    Column("how", SmallInteger),
    Index("decisions_by_time", "learner", "asked_at"),
)

#: Phases whose rounds are dealt one by one: the plan is public. `dealt` grows with every ask.
phases = Table(
    "phases",
    metadata,
    Column("learner", Integer, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("plan", LargeBinary, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("dealt", BigInteger, nullable=False),
    Column("last_at", BigInteger, nullable=False),
)

#: The sums of open phases, sealed, and how many reports are in them. Apart from `phases`, so that asking does
#: not wait for updates.
sums = Table(
    "sums",
    metadata,
    Column("learner", Integer, primary_key=True),
    Column("phase", BigInteger, primary_key=True),
    Column("applied", BigInteger, nullable=False),
    Column("sums", LargeBinary, nullable=False),
)

#: What a learner had released at a time: rounds and the sum of their values, those held out, and its levels.
history = Table(
    "history",
    metadata,
    Column("learner", Integer, primary_key=True),
    Column("at", BigInteger, primary_key=True),
    Column("rounds", BigInteger, nullable=False),
    Column("total", Double, nullable=False),
    Column("held_rounds", BigInteger, nullable=False),
    Column("held_total", Double, nullable=False),
    Column("point", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

#: Queued feedback; deleted by the transaction that applies it.
feedback = Table(
    "feedback",
    metadata,
    Column("decision", LargeBinary, primary_key=True),
    Column("learner", Integer, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Index("feedback_by_learner", "learner"),
    sqlite_with_rowid=False,
)

#: Keyed hashes of person ids, and how many decisions their feedback has closed.
people = Table(
    "people",
    metadata,
    Column("learner", Integer, primary_key=True),
    Column("person", LargeBinary, primary_key=True),
    Column("attempts", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

#: One row for each process that writes, so that none waits for another's lock.
counts = Table(
    "counts",
    metadata,
    Column("learner", Integer, primary_key=True),
    Column("writer", Text, primary_key=True),
    Column("asked", BigInteger, nullable=False),
    Column("told", BigInteger, nullable=False),
    Column("expired", BigInteger, nullable=False),
    Column("released", BigInteger, nullable=False),
    Column("ones", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

#: API keys, as digests.
keys = Table(
    "keys",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("role", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("revoked", Boolean, nullable=False),
    Column("learners", Text),  # the only ones it may be used for, as JSON
    Column("expires_at", BigInteger),
)
