package diagnosis

import (
	"time"

	"github.com/tidemark/tidemark/internal/base/alarm"
	"github.com/tidemark/tidemark/internal/event"
	"github.com/tidemark/tidemark/internal/policies"
	"github.com/tidemark/tidemark/internal/services"
)

// Host is a program whose plugin gave a sign of life.
type Host struct {
	ID            string    `json:"id"`
	Host          string    `json:"host"`
	Version       string    `json:"version,omitzero"`
	PluginVersion string    `json:"pluginVersion,omitzero"`
	Hooks         []string  `json:"hooks"`
	Every         int64     `json:"everySeconds"`
	Last          time.Time `json:"last"`
	Age           int64     `json:"ageSeconds"`
	Silent        bool      `json:"silent"`
}

// ServerStatus is what a running server says about itself and those around it.
type ServerStatus struct {
	Policy  policies.InForce `json:"policy"`
	Version string           `json:"version"`
	Started time.Time        `json:"started"`
	Parts   []services.Part  `json:"parts"`
	Waiting int64            `json:"waiting"`
	Hosts   []Host           `json:"hosts"`
	Alarms  []alarm.Alarm    `json:"alarms,omitempty"`

	Stopped *event.Stopped `json:"stopped"` // nil: nothing is stopped
}
