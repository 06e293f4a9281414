package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/process"
)

// settingsOf has a value of each setting that is not its default.
var settingsOf = map[string]string{
	"listen": "127.0.0.1:4999", "tls": "{cert: a, key: b}", "plain_http": "true", "anthropic_upstream": "http://127.0.0.1:1", "db": "other.db",
	"encryption": "{key_file: k}", "preset": "chat", "mode": "observe", "window": "30000", "project": "shop", "early_pours": "off", "drop_block": "true",
	"keep_warm": "true\nsummary: {use_client_credential: true}", "add_markers": "true", "drain": "1s", "log": "warn", "log_format": "json", "ca": "[a.pem]",
	"allow": "[http://127.0.0.1:1]", "keys": "[{tenant: ann, key: a-secret-key}]", "hosts": "[chat.example]", "body_limit": "1MB", "body_memory": "1GB",
	"metrics_listen": "127.0.0.1:9141", "metrics_token": "secret", "tracing": "{endpoint: http://127.0.0.1:4318}", "budgets": "[{per: day, usd: 1}]",
	"summary": "{use_client_credential: true}", "flush": "on", "recall": "true", "presets": "[{model: x, preset: chat}]", "hooks": "{on_pour: {command: [true]}}",
	"openai_upstream": "http://127.0.0.1:1/v1", "upstreams": "[{url: 'http://127.0.0.1:1', prefix: /x}]", "tools": "{fetch: true}",
}

// openedBy says which settings are about who reaches a gateway from elsewhere. Nobody reaches that of decant run, so it opens
// none of this.
var openedBy = []string{"listen", "tls", "plain_http", "keys", "metrics_listen"}

// Each setting arrives where serve and run begin, or is about a door that is not opened. What nobody reads behind that is a
// setting without effect.
func TestEachSettingIsHeeded(t *testing.T) {
	read := sourcesOf(t, "../../internal/front", "../../internal/setup", "../../internal/config", ".")
	s := &process.Process{Environ: []string{"DECANT_CONFIG=" + filepath.Join(t.TempDir(), "decant.yaml")}}
	_, file, _ := strings.Cut(s.Environ[0], "=")
	for f := range reflect.TypeFor[config.Config]().Fields() {
		key := f.Tag.Get("yaml")
		text, ok := settingsOf[key]
		switch {
		case key == "-":
			continue // it is no setting, but what is known of them
		case !ok:
			t.Errorf("%s: what do serve and run do about it? Add a value to settingsOf", key)
			continue
		case !strings.Contains(read, "."+f.Name):
			t.Errorf("%s: nobody reads it", key)
		}
		if err := os.WriteFile(file, []byte(key+": "+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, load := range map[string]func(*process.Process) (*config.Config, error){"serve": new(serveCmd).settings, "run": new(runCmd).local} {
			got, err := load(s)
			if key == "tools" { // of agents, which a gateway has not
				if err == nil {
					t.Errorf("%s: %s is neither heeded nor refused", name, key)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %s: %v", name, key, err)
				continue
			}
			value := reflect.ValueOf(*got).FieldByIndex(f.Index)
			arrived := !value.IsZero() && (key != "listen" || got.Listen == text)
			if closed := name == "run" && slices.Contains(openedBy, key); arrived == closed {
				t.Errorf("%s: %s arrives: %t", name, key, arrived)
			}
		}
	}
}

// sourcesOf returns the code in folders, tests left out.
func sourcesOf(t *testing.T, folders ...string) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range folders {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}

// flagsOf has a value of each flag of serve and run, by its field, that is not its default.
var flagsOf = map[string]string{
	"Upstream": "http://127.0.0.1:1", "OpenAI": "http://127.0.0.1:1/v1", "DB": "other.db", "KeyFileFlag": "k", "EncryptionKeyFile": "k", "Preset": "chat", "Early": "off", "Mode": "observe", "SummaryModel": "off",
	"Flush": "on", "Log": "warn", "Listen": "127.0.0.1:1", "TLSCert": "a", "TLSKey": "b", "MetricsListen": "127.0.0.1:2",
}

// besides are the flags that are no settings: where these stand, and what only the command itself needs.
var besides = []string{"Config", "LogFile", "Command"}

// Each flag of serve and run changes the settings, or is about the command alone.
func TestEachFlagIsHeeded(t *testing.T) {
	s := new(process.Process)
	for name, make := range map[string]func() (any, func(*process.Process) (*config.Config, error)){
		"serve": func() (any, func(*process.Process) (*config.Config, error)) { c := new(serveCmd); return c, c.settings },
		"run":   func() (any, func(*process.Process) (*config.Config, error)) { c := new(runCmd); return c, c.local },
	} {
		_, load := make()
		plain, err := load(s)
		if err != nil {
			t.Fatal(err)
		}
		command, _ := make()
		for _, f := range reflect.VisibleFields(reflect.TypeOf(command).Elem()) {
			if f.Anonymous || slices.Contains(besides, f.Name) {
				continue
			}
			command, load := make()
			switch v := reflect.ValueOf(command).Elem().FieldByIndex(f.Index); v.Kind() {
			case reflect.Bool:
				v.SetBool(true)
			case reflect.Int:
				v.SetInt(30_000)
			default:
				v.SetString(flagsOf[f.Name])
			}
			if got, err := load(s); err == nil && reflect.DeepEqual(got, plain) {
				t.Errorf("%s: %s changes nothing", name, f.Name)
			}
		}
	}
}
