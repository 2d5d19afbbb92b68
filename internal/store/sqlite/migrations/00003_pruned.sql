-- +goose Up
-- Records that something was taken out of, and the hash of what is left of them.
CREATE TABLE IF NOT EXISTS pruned (
    id   INTEGER PRIMARY KEY,
    hash BLOB NOT NULL
) STRICT;
