package proxy

// owe notes the calls that were refused and that the provider still waits for, under the ids
// by which the client may go on: the answer's own and its conversation's. What this request
// settled in a conversation is settled for good, once the answer is complete.
func (x *exchange) owe(o result) {
	f, tenant := x.p.o.Follower, x.who.tenant
	f.Owe(tenant, o.ID, o.Owed)
	if x.req == nil || !x.req.Hints.Lasting {
		return
	}
	if o.Complete {
		f.Settle(tenant, x.req.Hints.Previous, x.edit.Owed)
	}
	f.Owe(tenant, x.req.Hints.Previous, o.Owed)
}
