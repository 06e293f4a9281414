package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/process"
)

// The short names of variables work, with and without their prefix.
func TestReadConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("sntrys_from_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"NEW_RELIC_API_KEY": "NRAK-plain", "DECANT_TRIAGE_NEW_RELIC_API_KEY": "NRAK-nightwatch", "NEW_RELIC_APP_NAME": "shop,mail", "MINE": "NRAK-mine", "DECANT_TRIAGE_NEW_RELIC_ACCOUNT_ID": "8"}
	sources, err := Read("triage.yaml", []byte(`
model: somebody else's
sources:
  - type: log
    files: ["/var/log/app/*.log"]
    service: shop
  - {type: jsonl, files: [a.jsonl]}
  - type: command
    command: [bin/errors, --json]
    timeout: 30s
  - type: newrelic
    account: 7
    region: eu
    key_env: MINE
  - type: newrelic
    apps: [one]
  - type: sentry
    organization: acme
    projects: [shop]
    key_file: `+file+`
    per_issue: 5
`), true, with(env))
	if err != nil || len(sources) != 6 {
		t.Fatalf("%d sources, %v", len(sources), err)
	}
	nr, other, sy := sources[3].(*NewRelic), sources[4].(*NewRelic), sources[5].(*Sentry)
	if l := sources[0].(*Log); l.Service != "shop" || len(l.Files) != 1 {
		t.Errorf("got %+v", l)
	}
	if c := sources[2].(*Command); c.Timeout != 30*time.Second || len(c.Args) != 2 {
		t.Errorf("got %+v", c)
	}
	if nr.Account != 7 || nr.Region != "eu" || nr.Key.Reveal() != "NRAK-mine" || len(nr.Apps) != 2 || other.Account != 8 || other.Key.Reveal() != "NRAK-nightwatch" || other.Apps[0] != "one" {
		t.Errorf("got %+v, %+v", nr, other)
	}
	if sy.Token.Reveal() != "sntrys_from_file" || sy.Organization != "acme" || sy.PerIssue != 5 {
		t.Errorf("got %+v", sy)
	}
	if text := fmt.Sprintf("%+v %#v", nr, sy); strings.Contains(text, "NRAK-mine") || strings.Contains(text, "sntrys_from_file") {
		t.Errorf("a key is in %s", text)
	}
}

func TestBadConfigs(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"sources: x", "t.yaml:1: sources: want a list"},
		{"a: 1\nsources:\n  - log", "t.yaml:3: sources[0]: want keys"},
		{"sources:\n  - type: lgo\n    files: [a]", `t.yaml:2: sources[0].type: "lgo"; want jsonl`},
		{"sources:\n  - type: log\n    files: [a]\n  - type: log\n    fils: [a]", "t.yaml:5: sources[1]: unknown field \"fils\""},
		{"sources:\n  - type: log\n    files: [a]\n    account: 3", "t.yaml:4: sources[0].account: a source of type log has no such key"},
		{"sources:\n  - type: log", "t.yaml:2: sources[0].files: missing"},
		{"sources:\n  - type: log\n    files: a.log", "t.yaml:3: sources[0]: want a list, not"},
		{"sources:\n  - type: command\n    command: [a]\n    timeout: soon", `t.yaml:4: sources[0].timeout: "soon" is not a duration`},
		{"sources:\n  - type: newrelic", "sources[0].account: want the number"},
		{"sources:\n  - type: newrelic\n    account: 7\n    region: mars", `t.yaml:4: sources[0].region: "mars"; want us or eu`},
		{"sources:\n  - type: newrelic\n    account: 7\n    key_env: NOT_SET", "t.yaml:4: sources[0].key_env: the variable NOT_SET is not set"},
		{"sources:\n  - type: sentry\n    organization: a\n    key_file: none", "t.yaml:4: sources[0].key_file: open none"},
		{"sources:\n  - type: sentry", "sources[0].organization: want the slug"},
		{"sources: [", "t.yaml:1: "},
	} {
		_, err := Read("t.yaml", []byte(test.text), true, with(nil))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	env := map[string]string{}
	if s, err := Read("t.yaml", nil, true, with(env)); len(s) != 0 || err != nil {
		t.Errorf("got %v, %v", s, err)
	}
	env["NEW_RELIC_API_KEY"] = "NRAK-x"
	if _, err := fromEnvironment(with(env)); err == nil || !strings.Contains(err.Error(), "NEW_RELIC_ACCOUNT_ID") {
		t.Errorf("got %v", err)
	}
	env["NEW_RELIC_ACCOUNT_ID"], env["SENTRY_AUTH_TOKEN"], env["SENTRY_ORG"], env["SENTRY_PROJECT"] = "7", "sntrys_x", "acme", "shop"
	s, err := Read("t.yaml", []byte("model: x\n"), true, with(env))
	if err != nil || len(s) != 2 || s[0].Name() != "newrelic 7" || s[1].Name() != "sentry acme" || s[1].(*Sentry).Projects[0] != "shop" {
		t.Errorf("got %v, %v", s, err)
	}
	env["NEW_RELIC_ACCOUNT_ID"] = "seven"
	if _, err := fromEnvironment(with(env)); err == nil || strings.Contains(err.Error(), "NRAK") {
		t.Errorf("got %v", err)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("sources:\n  - type: sentry\n    organization: a\n    projects: [b]\n")
	f.Add("sources: [{type: log, files: [a]}, {type: command, command: [x], timeout: 1s}]")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "key_file") {
			return // no file of this machine is read
		}
		sources, err := Read("t.yaml", []byte(text), true, with(nil))
		for _, s := range sources {
			if err != nil || s == nil || s.Name() == "" {
				t.Errorf("got %v beside %v", s, err)
			}
		}
	})
}

// A repository chooses neither which credential of its user is sent, nor where to. Its user does, in a file of the
// user's own or in the environment.
func TestACredentialIsBoundToItsVendor(t *testing.T) {
	env := map[string]string{"SENTRY_AUTH_TOKEN": "sntrys_x", "NEW_RELIC_API_KEY": "NRAK-x", "SENTRY_AUTH_TOKEN_SHOP": "sntrys_shop", "DECANT_TRIAGE_NEW_RELIC_KEY": "NRAK-y", "AWS_SECRET_ACCESS_KEY": "aws"}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		users, entry, field string // what the environment says, what a repository says beside, and which field of it is refused
	}{
		{"", "type: sentry", ""},
		{"", "type: sentry, base_url: https://sentry.io/", ""},
		{"", "type: sentry, base_url: https://de.sentry.io", ""},
		{"", "type: sentry, base_url: https://Acme.Sentry.io:443", ""},
		{"", "type: newrelic, base_url: https://api.eu.newrelic.com", ""},
		{"", "type: sentry, base_url: http://sentry.io", "base_url"},
		{"", "type: sentry, base_url: https://sentry.io:444", "base_url"},
		{"", "type: sentry, base_url: https://sentry.io.evil.test", "base_url"},
		{"", "type: sentry, base_url: https://evilsentry.io", "base_url"},
		{"", "type: sentry, base_url: https://sentry.io@evil.test", "base_url"},
		{"", "type: sentry, base_url: https://evil.test/sentry.io", "base_url"},
		{"", "type: sentry, base_url: 'https://evil.test\\.sentry.io'", "base_url"},
		{"", "type: sentry, base_url: https://api.newrelic.com", "base_url"},
		{"", "type: newrelic, base_url: https://sentry.io", "base_url"},
		{"", "type: newrelic, base_url: https://evil.newrelic.com", "base_url"},
		{"", "type: newrelic, base_url: http://127.0.0.1:8080", "base_url"},
		{"https://sentry.acme.test", "type: sentry", ""},
		{"https://sentry.acme.test", "type: sentry, base_url: https://sentry.acme.test/", ""},
		{"https://sentry.acme.test", "type: sentry, base_url: https://sentry.io", "base_url"},
		{"https://sentry.acme.test", "type: sentry, base_url: https://sentry.acme.test.evil.test", "base_url"},
		{"", "type: sentry, key_env: SENTRY_AUTH_TOKEN_SHOP", ""},
		{"", "type: newrelic, key_env: DECANT_TRIAGE_NEW_RELIC_KEY", ""},
		{"", "type: sentry, key_env: AWS_SECRET_ACCESS_KEY", "key_env"},
		{"", "type: sentry, key_env: NEW_RELIC_API_KEY", "key_env"},
		{"", "type: newrelic, key_file: " + token, "key_file"},
		{"", "type: sentry, key_file: " + token, "key_file"},
	} {
		env["SENTRY_URL"] = test.users
		text := []byte("sources:\n  - {" + test.entry + map[bool]string{true: ", account: 7}", false: ", organization: acme}"}[strings.Contains(test.entry, "newrelic,") || strings.HasSuffix(test.entry, "newrelic")])
		_, err := Read("t.yaml", text, false, with(env))
		if want := "t.yaml:2: sources[0]." + test.field + ": "; test.field == "" && err != nil || test.field != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, test.field)
		}
		if _, err := Read("t.yaml", text, true, with(env)); err != nil {
			t.Errorf("the user's own %s: %v", text, err)
		}
	}
	env["NEW_RELIC_URL"] = "https://nerdgraph.acme.test"
	s, err := Read("t.yaml", []byte("sources: [{type: newrelic, account: 7}]"), false, with(env))
	if err != nil || s[0].(*NewRelic).Base != env["NEW_RELIC_URL"] {
		t.Errorf("%+v, %v", s, err)
	}
}

// with returns a process with an environment.
func with(env map[string]string) *process.Process {
	p := new(process.Process)
	for name, value := range env {
		p.Environ = append(p.Environ, name+"="+value)
	}
	return p
}
