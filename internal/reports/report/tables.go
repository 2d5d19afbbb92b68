package report

import "strings"

// line is a row of a table: it has a key, and can be added to.
type line[K comparable, V any] interface {
	*V
	key() K
	rest() K // of the row for what there is no room for
	called(k K)
	add(o *V)
}

// table is rows by key in the order in which they came, so that what there is no room for is the same each time.
type table[K comparable, V any, L line[K, V]] struct {
	by   map[K]L
	list []L
}

// at finds the row of a key, or makes it while there is room, or finds that of the rest.
func (t *table[K, V, L]) at(k K) L {
	if l := t.by[k]; l != nil {
		return l
	}
	l := L(new(V))
	if len(t.list) >= maxRows {
		if k = l.rest(); t.by[k] != nil {
			return t.by[k]
		}
	}
	l.called(k)
	t.put(l)
	return l
}

func (t *table[K, V, L]) put(l L) {
	if t.by == nil {
		t.by = map[K]L{}
	}
	t.by[l.key()] = l
	t.list = append(t.list, l)
}

func (t *table[K, V, L]) putAll(list []L) {
	for _, l := range list {
		if l != nil {
			t.put(l)
		}
	}
}

func (t *table[K, V, L]) add(o *table[K, V, L]) {
	for _, l := range o.list {
		t.at(l.key()).add(l)
	}
}

func (r *row) key() rowKey     { return rowKey{r.Rule, r.Tool, r.Kind} }
func (*row) rest() rowKey      { return rowKey{others, others, ""} }
func (r *row) called(k rowKey) { r.Rule, r.Tool, r.Kind = k.rule, k.tool, k.kind }

func (r *row) add(o *row) {
	r.Held, r.Denied, r.Asked = r.Held+o.Held, r.Denied+o.Denied, r.Asked+o.Asked
	r.Yes, r.No, r.Expired = r.Yes+o.Yes, r.No+o.No, r.Expired+o.Expired
	r.Pending, r.Unused = r.Pending+o.Pending, r.Unused+o.Unused
}

func (r *AuditRow) key() auditKey     { return auditKey{r.Source, r.Tool} }
func (*AuditRow) rest() auditKey      { return auditKey{others, others} }
func (r *AuditRow) called(k auditKey) { r.Source, r.Tool = k.source, k.tool }

func (r *AuditRow) add(o *AuditRow) {
	r.Asked, r.Consistent, r.Inconsistent = r.Asked+o.Asked, r.Consistent+o.Consistent, r.Inconsistent+o.Inconsistent
	r.Unsure, r.Failed, r.Cached = r.Unsure+o.Unsure, r.Failed+o.Failed, r.Cached+o.Cached
	r.Blocked, r.Overridden = r.Blocked+o.Blocked, r.Overridden+o.Overridden
}

func (r *ItemRow) key() itemKey {
	return itemKey{r.Session, r.ID, r.Giver, r.Tool, strings.Join(r.Missing, "\x00")}
}
func (*ItemRow) rest() itemKey { return itemKey{tool: others} }

func (r *ItemRow) called(k itemKey) {
	r.Session, r.ID, r.Giver, r.Tool = k.session, k.id, k.giver, k.tool
	if k.missing != "" {
		r.Missing = strings.Split(k.missing, "\x00")
	}
}

func (r *ItemRow) add(o *ItemRow) { r.Allowed, r.Asked = r.Allowed+o.Allowed, r.Asked+o.Asked }

func (r *VerifierRow) key() string     { return r.By }
func (*VerifierRow) rest() string      { return others }
func (r *VerifierRow) called(k string) { r.By = k }

func (r *VerifierRow) add(o *VerifierRow) {
	r.Allowed, r.Denied, r.Failed, r.Cached = r.Allowed+o.Allowed, r.Denied+o.Denied, r.Failed+o.Failed, r.Cached+o.Cached
}

func (r *ShadowRow) key() shadowKey { return shadowKey{r.Tool, r.Live, r.Shadow, r.Rule} }
func (*ShadowRow) rest() shadowKey  { return shadowKey{others, others, others, others} }
func (r *ShadowRow) called(k shadowKey) {
	r.Tool, r.Live, r.Shadow, r.Rule = k.tool, k.live, k.shadow, k.rule
}
func (r *ShadowRow) add(o *ShadowRow) { r.Calls += o.Calls }

func (t *Totals) add(o *Totals) {
	t.Calls, t.Allowed, t.Confined = t.Calls+o.Calls, t.Allowed+o.Allowed, t.Confined+o.Confined
	t.Held, t.Denied = t.Held+o.Held, t.Denied+o.Denied
	t.ByApproval, t.ByGrant = t.ByApproval+o.ByApproval, t.ByGrant+o.ByGrant
	t.ByAuditor, t.ByVerifier = t.ByAuditor+o.ByAuditor, t.ByVerifier+o.ByVerifier
	t.Asked, t.Yes, t.No = t.Asked+o.Asked, t.Yes+o.Yes, t.No+o.No
	t.Expired, t.Pending = t.Expired+o.Expired, t.Pending+o.Pending
	t.WrongCodes, t.Grants, t.Revoked = t.WrongCodes+o.WrongCodes, t.Grants+o.Grants, t.Revoked+o.Revoked
	t.Shadowed, t.Differ = t.Shadowed+o.Shadowed, t.Differ+o.Differ
}
