-- +goose Up
-- Names compare by their bytes, whatever the database's language is.
CREATE TABLE sessions (
    id   BIGINT PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE
);

-- Turns and branches have no column: the body, which the hash covers, is the only place
-- that says where a record belongs.
CREATE TABLE records (
    id      BIGINT PRIMARY KEY,
    session BIGINT NOT NULL,
    seq     BIGINT NOT NULL,
    time    BIGINT NOT NULL,
    kind    TEXT COLLATE "C" NOT NULL,
    hash    BYTEA NOT NULL,
    body    BYTEA NOT NULL,
    UNIQUE (session, seq)
);

CREATE INDEX records_turns ON records (session, seq) WHERE kind = 'turn.began';

CREATE TABLE ledger (
    batch BIGINT PRIMARY KEY,
    first BIGINT NOT NULL,
    count BIGINT NOT NULL,
    hash  BYTEA NOT NULL
);

-- Where questions were asked, so that the queue is found without reading every session. It says
-- nothing that is not in a record, and nobody decides by it.
CREATE TABLE asks (
    id      TEXT COLLATE "C" PRIMARY KEY,
    session BIGINT NOT NULL,
    expires BIGINT NOT NULL
);

CREATE INDEX asks_expires ON asks (expires);

-- What Ping writes; see there.
CREATE TABLE probe (
    n BIGINT NOT NULL
);

-- What every server of the log must have alike.
CREATE TABLE alike (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value BYTEA NOT NULL
);
