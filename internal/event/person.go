package event

// Person is what happened at the doors that people use: a sign-in, a key, a secret.
type Person struct {
	// Act is signed-in, refused, signed-out, enrolled, removed, secret, forgotten, proved, token-added, token-revoked,
	// notices-on, notices-off, machine-invited or machine-joined.
	Act    string `json:"act"`
	By     string `json:"by,omitzero"`
	Via    string `json:"via,omitzero"`
	Detail string `json:"detail,omitzero"`

	Key    *Key   `json:"key,omitzero"`    // enrolled: the key; removed: its ID
	Secret string `json:"secret,omitzero"` // secret: salt and hash of it
	Agent  string `json:"agent,omitzero"`  // token-added: the agent whose token it is; "": a person's
	Token  string `json:"token,omitzero"`  // token-added: SHA-256 of it, hex, where several servers take it; machine-*: of the code
	// Machine is token-added: the machine whose token it is; "": a token of this one.
	Machine string `json:"machine,omitzero"`
	Until   int64  `json:"until,omitzero"` // of an invitation: when it is over, Unix nanoseconds
	Proof   *Proof `json:"proof,omitzero"` // by which it was allowed
}

// Key is a passkey of a person: with it they prove that it is they who approve.
type Key struct {
	ID     string `json:"id"` // the credential's, base64url
	Name   string `json:"name,omitzero"`
	Role   string `json:"role,omitzero"`   // of the person who enrolled it
	Site   string `json:"site,omitzero"`   // host name it is bound to
	Public string `json:"public,omitzero"` // COSE key, base64url
}

// Proof shows that a person said yes to exactly this: what they signed, and the signature.
type Proof struct {
	Kind   string `json:"kind"`            // passkey, typed, or the channel that counts as one
	Key    string `json:"key,omitzero"`    // ID of the key
	Public string `json:"public,omitzero"` // the key itself, so that it can be checked when the key is gone
	Site   string `json:"site,omitzero"`
	Said   string `json:"said,omitzero"`  // what the person agreed to, as JSON
	Nonce  string `json:"nonce,omitzero"` // base64url; the challenge is it and the hash of Said

	Client        string `json:"client,omitzero"`        // client data, base64url
	Authenticator string `json:"authenticator,omitzero"` // authenticator data, base64url
	Signature     string `json:"signature,omitzero"`     // base64url
}
