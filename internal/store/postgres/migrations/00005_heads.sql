-- +goose Up
-- Where each session stood after its last record, so that one whose last records were taken away is not read as if they had never been. The
-- database keeps it: a server of before that still runs writes it too.
CREATE TABLE heads (
    session BIGINT PRIMARY KEY,
    seq     BIGINT NOT NULL,
    hash    BYTEA NOT NULL
) WITH (fillfactor = 70);

-- +goose StatementBegin
CREATE FUNCTION note_heads() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO heads (session, seq, hash)
    SELECT DISTINCT ON (session) session, seq, hash FROM added ORDER BY session, seq DESC
    ON CONFLICT (session) DO UPDATE SET seq = excluded.seq, hash = excluded.hash;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

LOCK TABLE records IN SHARE ROW EXCLUSIVE MODE;

CREATE TRIGGER records_heads AFTER INSERT ON records
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_heads();

INSERT INTO heads (session, seq, hash)
SELECT r.session, r.seq, r.hash
FROM records r JOIN (SELECT session, max(seq) AS seq FROM records GROUP BY session) l ON l.session = r.session AND l.seq = r.seq;
