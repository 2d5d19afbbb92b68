-- +goose Up
-- Where questions were asked, so that the queue is found without reading every session. It says
-- nothing that is not in a record, and nobody decides by it.
CREATE TABLE asks (
    id      TEXT PRIMARY KEY,
    session INTEGER NOT NULL,
    expires INTEGER NOT NULL
) STRICT;

CREATE INDEX asks_expires ON asks (expires);

INSERT OR REPLACE INTO asks (id, session, expires)
SELECT json_extract(body, '$.decided.ask.id'), session, json_extract(body, '$.decided.ask.expires')
FROM (
    SELECT session, CAST(body AS TEXT) AS body FROM records
    WHERE kind = 'call.decided' AND time > (CAST(strftime('%s', 'now') AS INTEGER) - 172800) * 1000000000
)
WHERE json_valid(body) AND json_type(body, '$.decided.ask.id') = 'text' AND json_type(body, '$.decided.ask.expires') = 'integer';
