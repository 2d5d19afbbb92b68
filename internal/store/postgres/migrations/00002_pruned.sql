-- +goose Up
-- Records that something was taken out of, and the hash of what is left of them.
CREATE TABLE IF NOT EXISTS pruned (
    id   BIGINT PRIMARY KEY,
    hash BYTEA NOT NULL
);
