-- +goose Up
-- Where each session stood after its last record, so that one whose last records were taken away is not read as if they had never been.
CREATE TABLE heads (
    session INTEGER PRIMARY KEY,
    seq     INTEGER NOT NULL,
    hash    BLOB NOT NULL
) STRICT;

INSERT INTO heads (session, seq, hash)
SELECT r.session, r.seq, r.hash
FROM records r JOIN (SELECT session, max(seq) AS seq FROM records GROUP BY session) l ON l.session = r.session AND l.seq = r.seq;
