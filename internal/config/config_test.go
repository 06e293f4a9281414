package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant/internal/config"
)

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "decant.yaml")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLaterSourcesWin(t *testing.T) {
	name := file(t, `
listen: 127.0.0.1:1
db: file.db
mode: observe
drain: 5s
window: 1000
presets:
  - {model: "claude-haiku-*", preset: chat}
  - {client: "opencode/*", preset: ./mine.yaml}
`)
	c, err := config.Load(config.Sources{
		Environ: []string{"PATH=/bin", "DECANT_CONFIG=" + name, "DECANT_DB=env.db", "DECANT_MODE=off", "DECANT_ALLOW=https://a.example,https://b.example/x", "DECANT_EARLY_POURS=true"},
		Flags:   map[string]string{"mode": "manage", "window": "", "log": "debug"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &config.Config{
		File:   name,
		Listen: "127.0.0.1:1", Upstream: "https://api.anthropic.com", OpenAI: "https://api.openai.com/v1", DB: "env.db", Preset: "default", Mode: "manage", Window: 1000,
		Drain: config.Drain(5 * time.Second), Log: "debug", LogFormat: "text", Allow: []string{"https://a.example", "https://b.example/x"},
		Summary: config.Summary{Provider: "anthropic"},
		Presets: []config.Rule{{Model: "claude-haiku-*", Preset: "chat"}, {Client: "opencode/*", Preset: "./mine.yaml"}},
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := fmt.Sprint(c.Destinations()); got != "[https://api.anthropic.com https://a.example https://b.example/x https://api.openai.com/v1 https://chatgpt.com/backend-api/codex]" {
		t.Errorf("destinations %s", got)
	}
}

func TestWhatCannotBeIsNamed(t *testing.T) {
	for _, c := range []struct {
		name, file string
		environ    []string
		flags      map[string]string
		want       string
	}{
		{name: "UnknownKey", file: "listne: 127.0.0.1:1", want: "listne"},
		{name: "UnknownKeyInside", file: "keys: [{tenant: a, kee: b}]", want: "kee"},
		{name: "UnknownVariable", environ: []string{"DECANT_LISTNE=x"}, want: "DECANT_LISTNE"},
		{name: "UnknownFlag", flags: map[string]string{"some_thing": "x"}, want: "--some-thing"},
		{name: "NoNumber", environ: []string{"DECANT_WINDOW=much"}, want: "DECANT_WINDOW"},
		{name: "NoDuration", file: "drain: soon", want: "drain"},
		{name: "Mode", flags: map[string]string{"mode": "mange"}, want: `mode: "mange" is not one of manage, observe, off`},
		{name: "Window", flags: map[string]string{"window": "-1"}, want: "window"},
		{name: "Listen", flags: map[string]string{"listen": "4141"}, want: `listen: "4141"`},
		{name: "MetricsListen", flags: map[string]string{"metrics_listen": "9141"}, want: `metrics_listen: "9141"`},
		{name: "HalfCertificate", file: "tls: {cert: a.pem}", want: "tls.key"},
		{name: "OtherHalf", environ: []string{"DECANT_TLS_KEY=a.key"}, want: "tls.cert"},
		{name: "Upstream", flags: map[string]string{"anthropic_upstream": "api.anthropic.com"}, want: "want a base URL"},
		{name: "UpstreamWithQuery", flags: map[string]string{"anthropic_upstream": "https://x?y=1"}, want: "want a base URL"},
		{name: "UpstreamWithPassword", flags: map[string]string{"anthropic_upstream": "https://me:hunter2@x"}, want: "xxxxx"},
		{name: "KeyWithoutTenant", file: "keys: [{key: hunter2}]", want: "keys[0]: no tenant"},
		{name: "KeyWithoutKey", file: "keys: [{tenant: a}]", want: "keys[0] of tenant a"},
		{name: "KeyTwice", file: "keys: [{tenant: a, key: hunter2, sha256: ab}]", want: "either key or sha256"},
		{name: "OneKeyForTwo", file: "keys: [{tenant: a, key: hunter2}, {tenant: c, key: other}, {tenant: b, key: hunter2}]",
			want: "keys[0] of tenant a and keys[2] of tenant b are the same key"},
		{name: "OneKeyTwice", file: "keys: [{tenant: a, key: hunter2}, {tenant: a, key: hunter2}]", want: "keys[0] of tenant a and keys[1] of tenant a"},
		{name: "KeyAndItsHash", file: "keys: [{tenant: a, key: hunter2}, {tenant: b, sha256: F52FBD32B2B3B86FF88EF6C490628285F482AF15DDCB29541F94BCF526A3F6C7}]",
			want: "keys[0] of tenant a and keys[1] of tenant b"},
		{name: "BadHash", file: "keys: [{tenant: a, sha256: abc}]", want: "64 hexadecimal digits"},
		{name: "BadKeys", environ: []string{"DECANT_KEYS=hunter2"}, want: "TENANT:KEY"},
		{name: "RuleWithoutPreset", file: "presets: [{model: x}]", want: "presets[0]: no preset"},
		{name: "RuleForAll", file: "presets: [{preset: chat}]", want: "neither model nor client"},
		{name: "NotYAML", file: "keys: [{tenant: a, key: hunter2}", want: "decant.yaml"},
		{name: "WrongType", file: "keys: {hunter2: 1}", want: "decant.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := config.Sources{Environ: c.environ, Flags: c.flags}
			if c.file != "" {
				s.File = file(t, c.file)
			}
			_, err := config.Load(s)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestVariablesOfOthersAreLeftAlone(t *testing.T) {
	_, err := config.Load(config.Sources{Environ: []string{
		"DECANT_CATALOG=models.json", "DECANT_SERVICE_HOST=10.0.0.1", "DECANT_PORT=tcp://10.0.0.1:4141", "DECANT_PORT_4141_TCP=x", "DECANTER=1",
	}})
	if err != nil {
		t.Error(err)
	}
}

func TestOthersNeedKeys(t *testing.T) {
	for _, c := range []struct {
		listen, keys string
		stored, open bool
	}{
		{listen: "0.0.0.0:1", open: true}, {listen: ":1", open: true}, {listen: "example.org:1", open: true}, {listen: "[::]:1", open: true},
		{listen: "0.0.0.0:1", keys: "a:k"}, {listen: "0.0.0.0:1", stored: true},
		{listen: "127.0.0.1:1"}, {listen: "[::1]:1"}, {listen: "localhost:1"},
	} {
		cfg, err := config.Load(config.Sources{Environ: []string{"DECANT_KEYS=" + c.keys}, Flags: map[string]string{"listen": c.listen}})
		if err != nil {
			t.Fatal(err)
		}
		if err := cfg.CheckOpen(c.stored); errors.Is(err, config.ErrOpen) != c.open {
			t.Errorf("%s, keys %q, stored %t: %v", c.listen, c.keys, c.stored, err)
		}
	}
}

// Keys are rotated by listing both for a while.
func TestOneTenantMayHaveSeveralKeys(t *testing.T) {
	if _, err := config.Load(config.Sources{Environ: []string{"DECANT_KEYS=a:old,a:new"}}); err != nil {
		t.Error(err)
	}
}

func TestKeysOpenTheDoorToOthers(t *testing.T) {
	c, err := config.Load(config.Sources{Environ: []string{"DECANT_KEYS=a:k1,b:k2:x", "DECANT_LISTEN=0.0.0.0:1"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Keys) != 2 || c.Keys[1].Tenant != "b" || c.Keys[1].Key.Reveal() != "k2:x" {
		t.Errorf("%d keys", len(c.Keys))
	}
}

func TestSecretsPrintAsRedacted(t *testing.T) {
	k := config.Key{Tenant: "a", Key: "hunter2"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		if got := fmt.Sprintf(verb, k); strings.Contains(got, "hunter2") || strings.Contains(got, "68756e74657232") {
			t.Errorf("%s: %s", verb, got)
		}
	}
	b, err := json.Marshal(k)
	if err != nil || strings.Contains(string(b), "hunter2") {
		t.Errorf("%s, %v", b, err)
	}
}

// A file in which everything is commented out says nothing, so the defaults stay.
func TestAFileThatSaysNothingChangesNothing(t *testing.T) {
	want, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"", "\n", "# listen: 127.0.0.1:1\n", "---\n"} {
		got, err := config.Load(config.Sources{Environ: []string{"DECANT_CONFIG=" + file(t, content)}})
		if err != nil {
			t.Errorf("%q: %v", content, err)
			continue
		}
		got.File = ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", content, diff)
		}
	}
}

// One key says how eagerly to pour early; true and false are levels, too.
func TestEarlyPoursIsALevel(t *testing.T) {
	for written, want := range map[string]config.Level{"true": "", "false": "off", "off": "off", "high": "high", `"low"`: "low"} {
		file := filepath.Join(t.TempDir(), "decant.yaml")
		if err := os.WriteFile(file, []byte("early_pours: "+written+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Sources{File: file})
		if err != nil || c.Early != want {
			t.Errorf("early_pours: %s is %q, %v; want %q", written, c.Early, err, want)
		}
	}
	c, err := config.Load(config.Sources{Environ: []string{"DECANT_EARLY_POURS=false"}, Flags: map[string]string{}})
	if err != nil || c.Early != "off" {
		t.Errorf("DECANT_EARLY_POURS=false is %q, %v", c.Early, err)
	}
}
