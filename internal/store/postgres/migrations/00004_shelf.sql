-- +goose Up
-- What servers of one log have in common for a while: who is signed in, and what was used that works once.
CREATE TABLE IF NOT EXISTS shelf (
    id    TEXT COLLATE "C" PRIMARY KEY,
    body  BYTEA  NOT NULL,
    until BIGINT NOT NULL
);
