-- +goose Up
CREATE TABLE sessions (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- The hash stands before the body so that the ledger can be checked without
-- reading bodies. Turns and branches have no column: the body, which the hash
-- covers, is the only place that says where a record belongs.
CREATE TABLE records (
    id      INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    time    INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    hash    BLOB NOT NULL,
    body    BLOB NOT NULL,
    UNIQUE (session, seq)
) STRICT;

CREATE INDEX records_turns ON records (session, seq) WHERE kind = 'turn.began';

CREATE TABLE ledger (
    batch INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    hash  BLOB NOT NULL
) STRICT;

-- What Ping writes; see there.
CREATE TABLE probe (
    id   INTEGER PRIMARY KEY,
    body BLOB NOT NULL
) STRICT;
