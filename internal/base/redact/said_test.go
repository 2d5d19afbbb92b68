package redact_test

import (
	"strings"
	"testing"

	"github.com/tidemark/tidemark/internal/base/redact"
)

// What people say in a sentence is taken out as what stands behind a name is, in every shipped language.
func TestSecretsThatPeopleSayAreTakenOut(t *testing.T) {
	r := redact.New()
	const secret = "Tr0ub4dor&3xyz"
	for _, text := range []string{
		"my password is Tr0ub4dor&3xyz", "My password for the bank is \"Tr0ub4dor&3xyz\".", "the wifi password: Tr0ub4dor&3xyz please",
		"log in with bob and Tr0ub4dor&3xyz", "password Tr0ub4dor&3xyz, user bob", "its passphrase is Tr0ub4dor&3xyz",
		"mein Passwort ist Tr0ub4dor&3xyz", "das Kennwort lautet Tr0ub4dor&3xyz.", "mon mot de passe est Tr0ub4dor&3xyz",
		"mi contraseña es Tr0ub4dor&3xyz", "a minha senha é Tr0ub4dor&3xyz", "la mia password è Tr0ub4dor&3xyz",
		"mijn wachtwoord is Tr0ub4dor&3xyz", "密码是Tr0ub4dor&3xyz", "我的密码是 Tr0ub4dor&3xyz。", "パスワードはTr0ub4dor&3xyzです",
		"비밀번호는 Tr0ub4dor&3xyz 입니다", "كلمة السر هي Tr0ub4dor&3xyz", "mitt lösenord är Tr0ub4dor&3xyz", "passordet er Tr0ub4dor&3xyz",
		"min adgangskode er Tr0ub4dor&3xyz", "moje hasło to Tr0ub4dor&3xyz", "мой пароль Tr0ub4dor&3xyz", "Пароль: Tr0ub4dor&3xyz",
		"ПАРОЛЬ Tr0ub4dor&3xyz", "Şifrem Tr0ub4dor&3xyz", "Hasło to Tr0ub4dor&3xyz", "şifrem Tr0ub4dor&3xyz",
	} {
		if got := r.Text(text); strings.Contains(got, secret[:6]) {
			t.Errorf("%q: got %q", text, got)
		}
	}
	for text, secret := range map[string]string{
		"the PIN is 483920":                                "483920",
		"my PIN for the door is 4839.":                     "4839",
		"your verification code is 483 920":                "483",
		"die PIN ist 483920":                               "483920",
		"le code est 483920":                               "483920",
		"验证码是483920":                                       "483920",
		"暗証番号は483920です":                                    "483920",
		"인증번호는 483920":                                     "483920",
		"my password is hunter":                            "hunter",
		"the passphrase is correct horse battery staple":   "horse battery staple",
		"my password is, as ever, hunter22":                "hunter22",
		"the password is 'correct-horse'":                  "correct-horse",
		"my password is not hunter22":                      "hunter22",
		"PASSWORD IS HUNTER22":                             "HUNTER22",
		"my password (for the router) is hunter22, thanks": "hunter22",
	} {
		if got := r.Text(text); strings.Contains(got, secret) {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

// What only speaks of secrets, and what stands elsewhere in the text, is left as it is.
func TestSentencesAboutSecretsStay(t *testing.T) {
	r := redact.New()
	for _, text := range []string{
		"send the password reset mail for order 48213 to ben@crew.example", "review the code in src/main.go and fix test 7",
		"the code is broken since Monday", "log in to the console and open invoice 48213", "change my password", "the password is in the safe", "mein Passwort ist falsch", "is there a PIN?",
		"the meeting is at 1430 in room B12", "pay invoice RE-2026-118 of 483,90 EUR", "mein Termin ist um 14:30",
		"run the tests with go test ./... -run Password", "sign in with ben@crew.example", "the pin board is at https://x.example/a1b2c3",
		"el código de main.go es de ayer", "the secret of a good stew is time",
	} {
		if got := r.Text(text); got != text {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

// The work grows with the text, whatever stands in it.
func TestSayingsAreReadOnce(t *testing.T) {
	for _, unit := range []string{"password ", "log in ", "password is ", "密码", "passphrase is a ", "pin: "} {
		_ = redact.New().Text(strings.Repeat(unit, 20_000))
	}
}
