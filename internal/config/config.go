// Package config reads how a gateway is to be run. What a setting is comes from four places, each
// stronger than the one before: its default, a YAML file, the environment, the command line. A key
// that does not exist is an error that names it, in whichever place: a misspelled setting must not be
// ignored silently.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/internal/yamltext"
)

// Config is how a gateway runs. Files use the names in the tags; the environment DECANT_ and the
// name in capitals. What has the tag names:"file" is the name of a file, see
// [Config.Files]; with names:"preset" it may be one.
type Config struct {
	File string `yaml:"-" names:"file"` // that the settings stand in; empty: none

	Listen     string     `yaml:"listen"`                // address to serve, host:port
	TLS        TLS        `yaml:"tls"`                   // certificate to serve with; none: without encryption
	Plain      bool       `yaml:"plain_http"`            // other machines may be served without encryption
	Upstream   string     `yaml:"anthropic_upstream"`    // base URL of the Messages API
	OpenAI     string     `yaml:"openai_upstream"`       // base URL of OpenAI's APIs, with its version; off: their requests are refused
	Upstreams  []Upstream `yaml:"upstreams"`             // where some requests go in place of these; the first that fits decides
	DB         string     `yaml:"db" names:"database"`   // a path or sqlite:PATH, which is a path after Load, the user's own if none is named; or on a server, see IsServer
	Seal       Seal       `yaml:"encryption"`            // encrypts the database; none: it is not encrypted
	Preset     string     `yaml:"preset" names:"preset"` // policy of requests that no rule names one for
	Mode       string     `yaml:"mode"`                  // manage, observe or off
	Window     int        `yaml:"window"`                // tokens, in place of every model's own; 0: the catalogue's
	Project    string     `yaml:"project"`               // what the conversations are about
	Early      Level      `yaml:"early_pours"`           // how eagerly every preset pours early: off, low, default or high; empty: as the preset says
	DropBlock  bool       `yaml:"drop_block"`            // may ask the provider to drop thinking that no longer fits
	KeepWarm   bool       `yaml:"keep_warm"`             // keeps warm what conversations that rest have left in the provider's cache
	AddMarkers bool       `yaml:"add_markers"`           // adds cache markers for clients that set none behind their messages
	Drain      Drain      `yaml:"drain"`                 // how long open streams may continue after a signal to stop
	Log        string     `yaml:"log"`                   // least level that is logged: debug, info, warn, error
	LogFormat  string     `yaml:"log_format"`            // text or json
	CA         []string   `yaml:"ca" names:"file"`       // PEM files with authorities to trust besides the system's
	Allow      []string   `yaml:"allow"`                 // base URLs that calls may go to besides the upstream
	Keys       []Key      `yaml:"keys"`                  // who may use the gateway besides those whose keys are in the database; none at all: everybody who reaches it
	Hosts      []string   `yaml:"hosts"`                 // names by which it may be called besides those of loopback
	BodyLimit  Size       `yaml:"body_limit"`            // largest body that is managed; 0: what the machine has room for
	Bodies     Size       `yaml:"body_memory"`           // bytes of bodies that are held at once; 0: what the machine has room for
	Metrics    string     `yaml:"metrics_listen"`        // address that shows metrics to everybody who reaches it, host:port; empty: none
	Token      Secret     `yaml:"metrics_token"`         // shows metrics to those who send it as a bearer; empty: metrics_listen only
	Tracing    Tracing    `yaml:"tracing"`               // where traces go; without an endpoint nothing is traced
	Budgets    []Budget   `yaml:"budgets"`               // limits of what is spent; none: no limit
	Summary    Summary    `yaml:"summary"`               // the model that writes records; none: they are extractive
	Flush      Flush      `yaml:"flush"`                 // whether what is worth remembering is saved before a pour: on, off; empty: as the preset says
	Recall     bool       `yaml:"recall"`                // tells a conversation that begins what is remembered of its project
	Presets    []Rule     `yaml:"presets"`               // the first rule that fits chooses the policy
	Hooks      Hooks      `yaml:"hooks"`                 // what to notify of events
	Tools      Tools      `yaml:"tools"`                 // that agents of the chat service may name; for the gateway an error
}

// Flush says whether conversations are flushed. True is written for on, and false for off.
type Flush string

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *Flush) UnmarshalText(text []byte) error {
	switch s := string(text); s {
	case "true", "on":
		*f = "on"
	case "false", "off":
		*f = "off"
	case "":
		*f = ""
	default:
		return fmt.Errorf("flush: %q is neither on nor off", s)
	}
	return nil
}

// Level is a level of early pours. True is written for the preset's own, and false for off.
type Level string

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *Level) UnmarshalText(text []byte) error {
	switch s := Level(text); s {
	case "true":
		*l = ""
	case "false":
		*l = "off"
	default:
		*l = s
	}
	return nil
}

// Drain is a duration that is written like "30s".
type Drain time.Duration

// UnmarshalText implements encoding.TextUnmarshaler. The YAML reader does not say which key a value
// belongs to, so this does.
func (d *Drain) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("drain: %q is not a duration like 30s", text)
	}
	*d = Drain(v)
	return nil
}

// TLS names the PEM files of a certificate and its key.
type TLS struct {
	Cert string `yaml:"cert" names:"file"`
	Key  string `yaml:"key" names:"file"`
}

// Seal says what the database is encrypted with.
type Seal struct {
	KeyFile string `yaml:"key_file" names:"file"` // file with the key; empty: it is not encrypted
}

// A Key admits one tenant. One tenant may have several.
type Key struct {
	Tenant string `yaml:"tenant"`
	Key    Secret `yaml:"key"`    // as the client sends it in x-decant-key
	SHA256 string `yaml:"sha256"` // or its SHA-256 in hexadecimal
}

// A Rule chooses a preset by pattern. Patterns may hold "*" and ignore case; an empty one fits all.
type Rule struct {
	Model  string `yaml:"model"`                 // of the request
	Client string `yaml:"client"`                // the User-Agent header
	Preset string `yaml:"preset" names:"preset"` // a name, or a file ending in .yaml
}

// A Budget limits what is spent in a conversation, by a tenant, or by a tenant in a month or on a day (UTC).
type Budget struct {
	Per    string  `yaml:"per"`    // conversation, tenant, month or day
	Tokens int     `yaml:"tokens"` // of prompts and answers; 0: no limit
	USD    float64 `yaml:"usd"`    // 0: no limit
}

// Sources are where settings come from.
type Sources struct {
	File    string            // empty: DECANT_CONFIG, else none
	Environ []string          // as of os.Environ
	Dir     string            // where relative names of files begin; empty: the working directory
	Flags   map[string]string // by the settings' names; empty values are not set
	Listen  string            // address to serve if nothing says otherwise; empty: the gateway's
}

// Load returns the configuration.
func Load(s Sources) (*Config, error) {
	c := defaults()
	c.Listen = cmp.Or(s.Listen, c.Listen)
	env, err := c.environment(s.Environ)
	if err != nil {
		return nil, err
	}
	if s.File == "" {
		s.File = env["config"]
	}
	if s.File != "" {
		if err := c.file(below(s.Dir, s.File)); err != nil {
			return nil, err
		}
		c.File = s.File
	}
	if err := c.set(env, variable); err != nil {
		return nil, err
	}
	if err := c.set(s.Flags, flag); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	c.findFiles(s)
	if err := c.Tracing.resolve(s.Environ); err != nil {
		return nil, err
	}
	if err := c.Summary.resolve(s.Environ); err != nil {
		return nil, err
	}
	for i := range c.Upstreams {
		u := &c.Upstreams[i]
		if u.Key, err = keyOf(fmt.Sprintf("upstreams[%d]", i), u.KeyEnv, u.KeyFile, s.Environ); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func defaults() *Config {
	return &Config{
		Listen: "127.0.0.1:4141", Upstream: "https://api.anthropic.com", OpenAI: "https://api.openai.com/v1", Preset: "default", Mode: "manage",
		Drain: Drain(30 * time.Second), Log: "info", LogFormat: "text",
		Summary: Summary{Provider: "anthropic"},
	}
}

// Others returns the keys that are set to something else than their defaults, but for those that are named: what a server that heeds
// these alone would leave out.
func (c *Config) Others(heeded ...string) (keys []string) {
	is, was := reflect.ValueOf(*c), reflect.ValueOf(*defaults())
	for i := range is.NumField() {
		key := is.Type().Field(i).Tag.Get("yaml")
		if key != "-" && !slices.Contains(heeded, key) && !reflect.DeepEqual(is.Field(i).Interface(), was.Field(i).Interface()) {
			keys = append(keys, key)
		}
	}
	return keys
}

// file reads a YAML file over c. Errors do not quote the file: it may hold keys.
func (c *Config) file(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	defaults := *c
	err = yamltext.Unmarshal(data, c, yaml.Strict())
	if reflect.ValueOf(*c).IsZero() { // the decoder sets all to zero for a document of comments alone
		*c = defaults
	}
	if err != nil {
		return fmt.Errorf("configuration %s: %s", name, humanize.YAMLError(err, false))
	}
	return nil
}

// check finds what cannot be.
func (c *Config) check() error {
	for _, one := range []struct {
		name, value string
		of          []string
	}{
		{"mode", c.Mode, []string{"manage", "observe", "off"}},
		{"log", c.Log, []string{"debug", "info", "warn", "error"}},
		{"log_format", c.LogFormat, []string{"text", "json"}},
	} {
		if !slices.Contains(one.of, one.value) {
			return fmt.Errorf("%s: %q is not one of %s", one.name, one.value, strings.Join(one.of, ", "))
		}
	}
	if c.Window < 0 {
		return fmt.Errorf("window: %d is not a number of tokens", c.Window)
	}
	if c.Drain < 0 {
		return fmt.Errorf("drain: %s is negative", time.Duration(c.Drain))
	}
	if err := c.checkDB(); err != nil {
		return err
	}
	if err := c.checkBudgets(); err != nil {
		return err
	}
	if err := c.checkKeys(); err != nil {
		return err
	}
	if err := c.checkRules(); err != nil {
		return err
	}
	for _, u := range append([]string{c.Upstream}, c.Allow...) {
		if _, err := parseBase(u); err != nil {
			return err
		}
	}
	if err := errors.Join(c.checkUpstreams(), c.checkHooks(), c.Tools.check()); err != nil {
		return err
	}
	if c.KeepWarm && !c.Summary.Client && !(c.Summary.Configured() && c.Summary.Shared) {
		return errors.New("keep_warm: no call finds what the clients have in the provider's cache; set use_client_credential, " +
			"or summary.shared_cache with a key of their workspace")
	}
	return c.checkListen()
}

// Destinations returns the upstreams and the other URLs that calls may go to, that of the Messages API first. The
// collector of traces is one of them, and the model that writes records, if there is one.
func (c *Config) Destinations() []*url.URL {
	out := parsedBases(append([]string{c.Upstream}, c.Allow...))
	if u := c.OpenAIUpstream(); u != nil {
		out = append(out, u)
	}
	for _, u := range c.Routes() {
		out = append(out, parsedBases([]string{u.URL})...)
	}
	for _, s := range []string{c.Tracing.Export.URL, c.Summary.Destination()} {
		if u, err := url.Parse(s); err == nil && s != "" {
			out = append(out, u)
		}
	}
	return out
}

// parsedBases parses base URLs that Load has checked.
func parsedBases(list []string) (out []*url.URL) {
	for _, s := range list {
		if u, err := parseBase(s); err == nil {
			out = append(out, u)
		}
	}
	return out
}

// parseBase parses a base URL. What it returns in errors does not show a password.
func parseBase(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, errors.New("upstream: the address cannot be parsed; want one like https://api.anthropic.com")
	case u.User != nil:
		return nil, fmt.Errorf("upstream %s: it holds a password; credentials come from the client", u.Redacted())
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.RawQuery != "", u.Fragment != "":
		return nil, fmt.Errorf("upstream %q: want a base URL like https://api.anthropic.com", s)
	}
	return u, nil
}

func (c *Config) checkBudgets() error {
	for i, b := range c.Budgets {
		if !slices.Contains([]string{"conversation", "tenant", "month", "day"}, b.Per) {
			return fmt.Errorf("budgets[%d].per: %q is not one of conversation, tenant, month, day", i, b.Per)
		}
		if b.Tokens < 0 || b.USD < 0 || b.Tokens == 0 && b.USD == 0 {
			return fmt.Errorf("budgets[%d]: want tokens, usd or both, more than nothing", i)
		}
	}
	return nil
}

func (c *Config) checkRules() error {
	for i, r := range c.Presets {
		if r.Preset == "" {
			return fmt.Errorf("presets[%d]: no preset", i)
		}
		if r.Model == "" && r.Client == "" {
			return fmt.Errorf("presets[%d]: neither model nor client; use the setting preset for all requests", i)
		}
	}
	return nil
}
