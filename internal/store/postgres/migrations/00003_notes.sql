-- +goose Up
-- What servers of one log let each other know beside it, in the order in which it was committed.
CREATE TABLE IF NOT EXISTS notes (
    id     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    server TEXT   NOT NULL,
    body   BYTEA  NOT NULL
);
