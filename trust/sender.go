package trust

// Sender is the metadata a host has about who started a turn.
type Sender struct {
	Provider  string `json:"provider,omitzero"`  // message channel; empty for cron and heartbeat
	ID        string `json:"id,omitzero"`        // platform id of the sender
	IsOwner   bool   `json:"isOwner,omitzero"`   // verified by the host
	Group     string `json:"group,omitzero"`     // set in group chats
	SpawnedBy string `json:"spawnedBy,omitzero"` // parent session of a sub-agent
	Unknown   bool   `json:"unknown,omitzero"`   // the host cannot supply sender metadata (PRV-06)
}
