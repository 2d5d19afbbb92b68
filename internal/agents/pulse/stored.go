package pulse

import (
	"context"
	"database/sql"
	"net/url"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/agents/catalogue"
	"github.com/tidemark/tidemark/internal/base/strictjson"
)

// A record may be a database: catalogue.Stored says how its name is written. It is OpenCode's, whose sessions are rows of parts.

// stored reports whether a record is a database.
func stored(record string) bool { return strings.HasPrefix(record, catalogue.StoredPrefix) }

// parts are the calls of a session that were written since. A command that the person typed stands in a message that no model made: such
// messages have no steps.
const parts = `select p.time_updated, p.data from part p where p.session_id = ? and p.time_updated >= ? and p.data like '{"type":"tool"%'
	and exists (select 1 from part q where q.message_id = p.message_id and q.data like '{"type":"step-start"%')
	order by p.time_updated limit 1000`

// queryLimit is how long a database may take: it is its host's, which may be writing.
const queryLimit = time.Second

// query takes in the calls that were added to a database. What cannot be read says nothing, and is read again.
func (s *beat) query(now time.Time) {
	file, session := catalogue.FromStored(s.record)
	ctx, cancel := context.WithTimeout(context.Background(), queryLimit)
	defer cancel()
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?mode=ro")
	if err != nil {
		return
	}
	defer func() { _ = db.Close() }() // nothing was written
	rows, err := db.QueryContext(ctx, parts, session, s.from)
	if err != nil {
		return
	}
	defer func() { _ = rows.Close() }() // as above
	for rows.Next() {
		var at int64
		var data []byte
		if rows.Scan(&at, &data) != nil {
			return
		}
		s.from = max(s.from, at)
		if c, ok := carried(data); ok {
			s.saw(c, now)
		}
	}
	_ = rows.Err() // the rest is read at the next look
}

// carried is the call in a part, if it was carried out.
func carried(data []byte) (call, bool) {
	var p struct {
		Tool  string `json:"tool"`
		Call  string `json:"callID"`
		State struct {
			Status string `json:"status"`
		} `json:"state"`
	}
	if strictjson.Unmarshal(data, &p) != nil || p.Call == "" || p.State.Status != "completed" || !catalogue.Acting(p.Tool) {
		return call{}, false
	}
	return call{id: p.Call}, true
}
