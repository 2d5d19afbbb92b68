package verifier

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidemark/tidemark/internal/base/endpoint"
	"github.com/tidemark/tidemark/internal/base/outbound"
)

// The limits and defaults of a configuration.
const (
	DefaultWebhookTimeout  = 30 * time.Second
	DefaultTelegramTimeout = 120 * time.Second
	MaxCache               = 10 * time.Minute
	minSecret              = 16 // characters that sign
)

// FailMode says what counts when an authority cannot be asked. All but Allow deny.
type FailMode string

// The fail modes.
const (
	Deny  FailMode = "deny"
	Allow FailMode = "allow"
)

// Scope says which tools are verified: those of Include, or all but those of Exclude, or
// all. Names count in their normalised spelling; there are no patterns.
type Scope struct {
	Include []string
	Exclude []string
}

// Config is what holds for all agents.
type Config struct {
	Enabled  bool
	Scope    Scope
	FailMode FailMode
	Webhook  *WebhookConfig
	Telegram *Chat
	Cache    time.Duration // how long an allow is remembered; 0: not at all; at most MaxCache
}

// Override is what one agent has on top of the file's Config. It can only tighten: it adds
// tools and authorities, and the stricter FailMode and the shorter Cache count.
type Override struct {
	Enabled  *bool          // nil: as the file says
	Scope    Scope          // zero: the file's; else these tools too
	FailMode FailMode       // empty: the file's
	Webhook  *WebhookConfig // nil: the file's; else asked instead of it where the file alone would not ask
	Telegram *bool          // whether the file's Telegram chat is asked; nil: as the file says
	Cache    *time.Duration // nil: the file's
}

// WebhookConfig is an HTTP endpoint that decides.
type WebhookConfig struct {
	URL     string
	Timeout time.Duration              // of a whole exchange; 0 is DefaultWebhookTimeout
	Headers map[string]endpoint.Secret // sent along, for the endpoint's own authentication
	Secret  endpoint.Secret            // signs the requests; empty: they are not signed
}

// Chat is the chat whose members decide, as far as it matters here: where it is and who
// speaks in it is for whoever makes the Asker.
type Chat struct {
	Enabled  bool
	Complete bool // somebody could be asked, if an agent turns it on
	Timeout  time.Duration
}

func (c *Config) check(plain bool) error {
	switch {
	case c.Enabled && c.Webhook == nil && (c.Telegram == nil || !c.Telegram.Enabled):
		return errors.New("enabled, but neither a webhook nor telegram is configured")
	case c.Telegram != nil && c.Telegram.Timeout < 0:
		return errors.New("telegram: negative timeout")
	}
	if err := checkCommon(c.Scope, c.FailMode, c.Cache); err != nil {
		return err
	}
	return c.Webhook.check(plain)
}

func (a *Override) check(file *Config, plain bool) error {
	if a.on(file) && a.Webhook == nil && file.Webhook == nil && !a.telegram(file) {
		return errors.New("enabled, but neither a webhook nor telegram is configured")
	}
	if a.Telegram != nil && *a.Telegram && file.Telegram == nil {
		return errors.New("telegram is not configured")
	}
	var keep time.Duration
	if a.Cache != nil {
		keep = *a.Cache
	}
	if err := checkCommon(a.Scope, a.FailMode, keep); err != nil {
		return err
	}
	return a.Webhook.check(plain)
}

// on reports whether the agent's own part is in force. It can be when the file's is not.
func (a *Override) on(file *Config) bool {
	if a.Enabled == nil {
		return file.Enabled
	}
	return *a.Enabled || file.Enabled
}

func (a *Override) telegram(file *Config) bool {
	if file.Telegram == nil {
		return false
	}
	return file.Telegram.Enabled || a.Telegram != nil && *a.Telegram
}

func checkCommon(s Scope, m FailMode, keep time.Duration) error {
	switch {
	case len(s.Include) > 0 && len(s.Exclude) > 0:
		return errors.New("scope has both include and exclude")
	case m != "" && m != Deny && m != Allow:
		return fmt.Errorf("fail mode %q is neither deny nor allow", string(m))
	case keep < 0 || keep > MaxCache:
		return fmt.Errorf("cache must be from 0 to %v", MaxCache)
	}
	for _, name := range slices.Concat(s.Include, s.Exclude) {
		if err := checkTool(name); err != nil {
			return err
		}
	}
	return nil
}

// checkTool refuses what looks like a pattern: it would match no tool and so verify none.
func checkTool(name string) error {
	if strings.TrimSpace(name) == "" || strings.ContainsAny(name, "*?[]{}") {
		return fmt.Errorf("scope: %q is not the name of a tool", name)
	}
	return nil
}

func (w *WebhookConfig) check(plain bool) error {
	if w == nil {
		return nil
	}
	u, err := outbound.URL(w.URL)
	switch {
	case err != nil:
		return fmt.Errorf("webhook: %w", err)
	case u.Scheme == "http" && !plain:
		return errors.New("webhook: url is not encrypted")
	case w.Timeout < 0:
		return errors.New("webhook: negative timeout")
	}
	for name, value := range w.Headers {
		if err := checkHeader(name, string(value)); err != nil {
			return fmt.Errorf("webhook: %w", err)
		}
	}
	return nil
}

// checkHeader keeps the configuration from changing what is signed or how it is framed.
func checkHeader(name, value string) error {
	return outbound.Header(name, value, http.CanonicalHeaderKey(headerOpenClaw))
}
