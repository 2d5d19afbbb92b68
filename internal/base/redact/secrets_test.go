package redact_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/redact"
)

// Values are put together here so that no scanner of this repository takes them for real.
const (
	letters = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUv"
	hexes   = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
)

// secrets are texts that hold a secret, with the part that must not come out.
func secrets() map[string][2]string {
	plain := func(secret string) [2]string { return [2]string{"before " + secret + " after", secret} }
	in := func(before, secret, after string) [2]string { return [2]string{before + secret + after, secret} }
	out := map[string][2]string{
		"an AWS secret beside its id":    in("AKIA"+"ABCDEFGHIJKLMNOP,", letters[:40], "\n"),
		"an AWS secret named after it":   in("AKIA"+"ABCDEFGHIJKLMNOP\naws secret = ", letters[:40], "\n"),
		"a JWT":                          plain("eyJ" + letters[:20] + "." + letters[:30] + "." + letters[:20]),
		"an encrypted JWT":               plain("eyJ" + letters[:20] + ".." + letters[:16] + "." + letters[:30] + "." + letters[:22]),
		"an OpenSSH key":                 plain("-----BEGIN " + "OPENSSH PRIVATE KEY-----\n" + letters + "\n-----END " + "OPENSSH PRIVATE KEY-----"),
		"a PGP key":                      plain("-----BEGIN " + "PGP PRIVATE KEY BLOCK-----\n\n" + letters + "\n-----END " + "PGP PRIVATE KEY BLOCK-----"),
		"a PEM key in a JSON string":     in(`{"k":"-----BEGIN `+`PRIVATE KEY-----\n`, letters, `\n-----END `+`PRIVATE KEY-----\n"}`),
		"a PuTTY key":                    in("Private-Lines: 2\n", letters, "\nPrivate-MAC: "+hexes[:40]),
		"a Telegram bot token":           plain("123456789:" + "AA" + letters[:33]),
		"a Telegram token in a URL":      in("https://api.telegram.org/bot", "123456789:"+"AA"+letters[:33], "/sendMessage"),
		"a Slack webhook":                in("https://hooks.slack.com/", "services/T00000000/B00000000/"+letters[:24], ""),
		"a Discord webhook":              in("https://discord.com/api/webhooks/123456789012345678/", letters[:60], ""),
		"a Discord token":                plain("M" + letters[:23] + "." + "GhIjKl" + "." + letters[:38]),
		"a Twilio key":                   plain("SK" + hexes[:32]),
		"a Twilio token beside its id":   in("AC"+hexes[:32]+":", hexes[3:35], ""),
		"a SendGrid key":                 plain("SG." + letters[:22] + "." + letters[:43]),
		"a Mailgun key":                  plain("key-" + hexes[:32]),
		"a Mailchimp key":                plain(hexes[:32] + "-us12"),
		"a Google OAuth secret":          plain("GOCSPX-" + letters[:28]),
		"a Google access token":          plain("ya29." + letters[:60]),
		"an Azure client secret":         plain("abc8Q~" + letters[:34]),
		"an Azure storage key":           in("DefaultEndpointsProtocol=https;AccountName=x;AccountKey=", letters[:86]+"==", ";EndpointSuffix=core.windows.net"),
		"a connection string's password": in("Server=db;Database=x;User Id=sa;Password=", "hunter22", ";Encrypt=true"),
		"a connection string's Pwd":      in("Server=db;Uid=sa;Pwd=", "hunter22", ";"),
		"a Go DSN":                       in("root:", "hunter22", "@tcp(db:3306)/x"),
		"a password in a URL":            in("amqp://guest:", "hun?ter#22", "@mq:5672/"),
		"a token as a URL's user":        in("https://", letters[:40], "@git.example.com/x.git"),
		"a token in a query":             in("https://x.example/cb?a=b&token=", "abcd1234", "&c=d"),
		"a key in a query":               in("https://x.example/cb?key=", "abcd1234", "&c=d"),
		"a signature in a query":         in("https://x.example/blob?sv=2020&sig=", "abc%2Bdef%3D", "&se=1"),
		"an Amazon signature in a query": in("https://b.s3.amazonaws.com/k?X-Amz-Signature=", hexes, ""),
		"a cookie header":                in("Cookie: ", "sid="+letters[:20]+"; theme=dark", "\r\nHost: x"),
		"a set-cookie header":            in("set-cookie: ", "sid="+letters[:20], "; Secure"),
		"an authorization without name":  in("Authorization: ", letters[:20], "\nHost: x"),
		"an authorization with a scheme": in("authorization: token ", "abcdef12", "\n"),
		"a digest authorization":         in("Authorization: Digest ", `username="bob", response="`+hexes[:32]+`"`, "\nHost: x"),
		"an authorization in JSON":       in(`{"Authorization": "Bearer `, "abcdefghijklmnop", `"}`),
		"a bearer token":                 in("send bearer ", letters[:20], " with it"),
		"an upper-case bearer":           in("BEARER ", letters[:20], ""),
		"a basic credential":             in("Basic ", base64.StdEncoding.EncodeToString([]byte("bob:hunter2")), ""),
		"an option":                      in("deploy --password ", "hunter22", " --verbose"),
		"a quoted option":                in(`deploy --api-key "`, "hunter 22", `" x`),
		"an option with =":               in("deploy --token=", "hunter22", " x"),
		"curl's user":                    in("curl -sS -u bob:", "hunter22", " https://x.example"),
		"mysql's password":               in("mysql -u root -p", "hunter22", " db"),
		"sshpass":                        in("sshpass -p '", "hunter22", "' ssh x"),
		"netrc":                          in("machine x.example login bob password ", "hunter22", "\n"),
		"a line of .env":                 in("APP_ENV=prod\nENCRYPTION_KEY=", letters[:24], "\nDEBUG=0"),
		"an exported secret":             in("export STRIPE_SECRET='", "abc def ghi", "'; run"),
		"a password of words":            in(`{"password": "`, "correct horse battery", `"}`),
		"a password with a quote":        in(`{"password": "`, `ab\"cdef`, `"}`),
		"a password in YAML":             in("db:\n  password: ", "hunter22", "\n  host: x"),
		"a password on the next line":    in("password:\n    ", "hunter22", "\n"),
		"a password in code":             in(`conn.Password := "`, "hunter22", `"`),
		"a password set by index":        in(`os.environ["DB_PASSWORD"] = "`, "hunter22", `"`),
		"a bytes literal":                in("SECRET = b'", "hunter22", "'"),
		"a name of two words":            in("The API key: ", "abcd1234efgh", "\n"),
		"a camel-case name":              in("clientSecret: '", "hunter22", "'"),
		"a random value of a vague name": in("auth = ", letters[:32], "\n"),
		"a random hex of a vague name":   in(`"key": "`, hexes[:48], `"`),
		"an HCP token":                   plain(letters[:14] + ".atlasv1." + letters[:60]),
		"an age key":                     plain("AGE-SECRET-KEY-1" + strings.ToUpper(letters[:58])),
		"an SSH key without its lines":   plain("b3BlbnNzaC1rZXktdjE" + letters[:60]),
		"a chat service's token":         plain("xoxb-" + "1234567890-" + letters[:24]),
		"a card in groups":               plain("3782 822463 10005"),
		"a key with a long part":         plain("sk-" + "abcdefghijklmnop-qrs-tuv"),
		"a password nobody closed":       in(`password="`, "hunter22", " and more"),
		"a password in deeper quotes":    in(`\\\"password\\\":\\\"`, "hunter 22", `\\\"`),
		"a password in odd quotes":       in(`\"password\":\"`, "hunter22", `" x`),
		"a second secret of a kind":      in("npm_x npm_"+letters[:30]+" npm_", letters[40:75], ""),
	}
	for _, lead := range []string{
		"ghp_", "gho_", "github_pat_", "glpat-", "npm_", "pypi-", "AIza", "hf_", "gsk_", "xai-", "pplx-", "r8_", "lin_api_", "ntn_",
		"figd_", "xapp-", "whsec_", "hvs.", "dckr_pat_", "tskey-", "lsv2_", "ATATT3", "sk-ant-", "sk_live_", "rk_live_", "pscale_tkn_", "EAA", "1//0",
	} {
		out["a token that begins "+lead] = plain(lead + letters)
	}
	for _, lead := range []string{"dop_v1_", "dapi", "shpat_", "rubygems_", "sbp_", "pul-"} {
		out["a token in hex that begins "+lead] = plain(lead + hexes)
	}
	return out
}

// VER-09
func TestEverySecretIsRemoved(t *testing.T) {
	r := redact.New()
	for name, tt := range secrets() {
		t.Run(name, func(t *testing.T) {
			got := r.Text(tt[0])
			if strings.Contains(got, tt[1]) || !strings.Contains(got, redact.Mark) {
				t.Errorf("Text(%q): got %q, which still holds %q", tt[0], got, tt[1])
			}
			if strings.HasSuffix(tt[0], " after") && got != "before "+redact.Mark+" after" {
				t.Errorf("Text(%q): got %q, want only the secret removed", tt[0], got)
			}
			if twice := r.Text(got); twice != got {
				t.Errorf("Text(%q): got %q, and of that %q", tt[0], got, twice)
			}
		})
	}
}

func TestALongValueIsRemovedToItsEnd(t *testing.T) {
	r := redact.New()
	long := strings.Repeat(letters, 100)
	tests := map[string]string{
		"token=" + long + " end":                        "token=[REDACTED] end",
		`token="` + long + " end":                       `token="[REDACTED] end`,
		"run --password " + long + " end":               "run --password [REDACTED] end",
		"Authorization: Digest a=" + long + "\nend":     "Authorization: Digest [REDACTED]\nend",
		"Authorization: Bearer " + long + " end":        "Authorization: Bearer [REDACTED] end",
		"https://x.example/?sig=" + long + "&a=b end":   "https://x.example/?sig=[REDACTED]&a=b end",
		`{"Authorization":"Digest a=` + long + `"} end`: `{"Authorization":"Digest [REDACTED]"} end`,
	}
	tests[`{"password":"`+strings.Repeat("word ", 20000)+`"} end`] = `{"password":"[REDACTED]`
	for in, want := range tests {
		if got := r.Text(in); got != want {
			t.Errorf("Text(%.40q...): got %.200q, want %q", in, got, want)
		}
	}
}

// Text is often JSON, and there a line ends with two characters of which one is a letter.
func TestASecretAfterAnEscapedLineBreakIsRemoved(t *testing.T) {
	r := redact.New()
	for name, tt := range secrets() {
		for _, br := range []string{`\n`, `\r\n`, `\t`} {
			text := "x" + br + strings.TrimPrefix(tt[0], "before ")
			if got := r.Text(text); strings.Contains(got, tt[1]) {
				t.Errorf("%s: Text(%q): got %q, which still holds %q", name, text, got, tt[1])
			}
		}
	}
}

// VER-09
func TestASecretWithInvisibleCharactersInsideIsRemoved(t *testing.T) {
	r := redact.New()
	for _, c := range []string{"\u200b", "\u00ad", "\u2060", "\ufe0f", "\u034f", "\u202e", "\U000E0041"} {
		text := "use ghp_" + letters[:10] + c + letters[10:30] + " now"
		if got := r.Text(text); got != "use "+redact.Mark+" now" {
			t.Errorf("Text(%q): got %q", text, got)
		}
		if got := r.Text("an emoji \u2764" + c + " stays"); got != "an emoji \u2764"+c+" stays" {
			t.Errorf("%q: text without secrets became %q", c, got)
		}
	}
}

func survivors() []string {
	return []string{
		// prose
		"a basic understanding of infrastructure", "Basic Infrastructure and basic functionality", "bearer of bad news, bearer authentication",
		"The secret of good bread is time.", "a task-based approach, risk-averse and desk-bound", "The key to the house is under the mat.",
		"Authorization: required", "He said: nothing. The password was wrong.", "Reset your password: click the link", "token: expired",
		"use --password to log in", "use --token or -t", "meet at 10:30, ratio 3:4", "Is the API key valid? The key: see below.",
		// code
		"password: string", "token: AuthToken;", "const token = getToken()", "password = os.environ[\"DB_PASSWORD\"]", "api_key=api_key,",
		"token = config.token", "secret := settings.SECRET_KEY", "Authorization: ${TOKEN}", "Authorization: Bearer $TOKEN", "password=\"${DB_PASSWORD}\"",
		"event.sessionKey = \"agent:main:main\"", "token: tokens.Admin, http: c", "agentToken: c.agent,", "switch token := token.(type) {",
		"secrets = byteorder.BEAppendUint16(secrets, 0)", "secret: environment variable X is not set", "password: []byte(nil)", "key: \"one-two-three-four-five\"",
		"if token == expected {", "Token::parse(x)", "password != confirmation", "max_tokens=200000", "prompt_tokens: 123456", "tokenizer: gpt2-large",
		"token_type: bearer-token", "secret_name=prod/database/main", "password_file=/run/secrets/db", "public_key: ssh-ed25519-abcdef0123456789abcdef",
		"sk-folding-cube-animation", "apiKey: <your-key-here>", "password: ********", "secrets: inherit", "credentials: 'include'", "PWD=/home/bob/project",
		"type Token struct {", "func (t *Token) String() string", "password []byte", "cookie: none", "next_page_token: CAUQAA1234",
		// identifiers
		"550e8400-e29b-41d4-a716-446655440000", "Idempotency-Key: 550e8400-e29b-41d4-a716-446655440000", "key: 550e8400-e29b-41d4-a716-446655440000",
		"commit 3f786850e387550fdab836ed7e6dc881de23001b", "sha256:" + hexes, "index 1a2b3c4..5d6e7f8 100644",
		"h1:GHRpF1pTW19a8tTFrMLUcfWwyC0pnifVo2ClaLq+hP8=", "sha512-" + letters + "==", "v1.2.3-0.20240101120000-abcdef123456",
		// numbers
		"1700000000000", "1700000000000000000", "id 1234567890123456789", "+49 151 2345 6789", "2024-01-01 12:00:00", "192.168.100.200:8080",
		"4111 1111 1111 1112", "9780306406157", "23 22 21 20 19 18 17 16", "key=12345678-1234-1234-1234-12345678901z",
		// addresses
		"https://example.com/a?page=2&sort=key", "http://localhost:8080?email=a@b.example", "bob@example.com", "git@github.com:org/repo.git",
		"https://github.com/org/repo/blob/3f786850e387550fdab836ed7e6dc881de23001b/main.go", "postgres://db.example:5432/x", "file.config.something_very_long_but_ordinary_name",
		"data:image/png;base64,iVBORw0KGgo", "/usr/lib/x86_64-linux-gnu/libsecret-1.so.0",
	}
}

func TestWhatIsNoSecretSurvives(t *testing.T) {
	r := redact.New()
	for _, s := range survivors() {
		if got := r.Text(s); got != s {
			t.Errorf("Text(%q): got %q, want it unchanged", s, got)
		}
	}
	all := strings.Join(survivors(), "\n")
	if got := r.Text(all); got != all {
		t.Errorf("all of them in one text: something was removed: %q", got)
	}
}
