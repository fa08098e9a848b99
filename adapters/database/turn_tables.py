"""The table of agents' turns (see `tables.py`)."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import BigInteger, Index, Integer, UniqueConstraint, text
from sqlmodel import Field, SQLModel

OPEN_TURN = text("not done")


class TurnRow(SQLModel, table=True):
    """A turn of an agent. `seq` orders the turns, and `mac` covers all other columns.

    `said` is a JSON list of earlier messages, each with its speaker. Only the agent knows the format of `state`.
    """

    __tablename__: ClassVar[Any] = "turns"
    __table_args__: ClassVar[Any] = (
        UniqueConstraint("id", name="turns_id"),
        Index("turns_open", "seq", sqlite_where=OPEN_TURN, postgresql_where=OPEN_TURN),
        Index("turns_place", "place", "seq"),
    )

    seq: int | None = Field(sa_type=BigInteger().with_variant(Integer(), "sqlite"), primary_key=True)
    id: str
    place: str
    identity: str
    requester: str
    message: str
    text: str
    said: str
    state: bytes
    done: bool
    mac: str
