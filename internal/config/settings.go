package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A setting is one key of the configuration that has room in the environment and on a command line.
type setting struct {
	name string
	set  func(string) error
}

func (c *Config) settings() []setting {
	return []setting{
		{"listen", text(&c.Listen)}, {"anthropic_upstream", text(&c.Upstream)}, {"openai_upstream", text(&c.OpenAI)}, {"db", text(&c.DB)}, {"encryption_key_file", text(&c.Seal.KeyFile)}, {"preset", text(&c.Preset)},
		{"mode", text(&c.Mode)}, {"window", parsed(&c.Window, whole)}, {"project", text(&c.Project)},
		{"early_pours", func(v string) error { return c.Early.UnmarshalText([]byte(v)) }}, {"drop_block", parsed(&c.DropBlock, yesno)}, {"add_markers", parsed(&c.AddMarkers, yesno)}, {"keep_warm", parsed(&c.KeepWarm, yesno)},
		{"drain", func(v string) error { return c.Drain.UnmarshalText([]byte(v)) }}, {"log", text(&c.Log)}, {"log_format", text(&c.LogFormat)},
		{"plain_http", parsed(&c.Plain, yesno)},
		{"tls_cert", text(&c.TLS.Cert)}, {"tls_key", text(&c.TLS.Key)}, {"metrics_listen", text(&c.Metrics)},
		{"metrics_token", func(v string) error { c.Token = Secret(v); return nil }},
		{"tracing_endpoint", text(&c.Tracing.Endpoint)}, {"tracing_sample", parsed(&c.Tracing.Sample, ratio)}, {"tracing_headers_file", text(&c.Tracing.HeadersFile)},
		{"tracing_service", text(&c.Tracing.Service)}, {"tracing_tenants", parsed(&c.Tracing.Tenants, yesno)},
		{"summary_model", text(&c.Summary.Model)}, {"summary_provider", text(&c.Summary.Provider)}, {"summary_base_url", text(&c.Summary.BaseURL)},
		{"summary_api_key_env", text(&c.Summary.KeyEnv)}, {"summary_key_file", text(&c.Summary.KeyFile)}, {"use_client_credential", parsed(&c.Summary.Client, yesno)},
		{"flush", func(v string) error { return c.Flush.UnmarshalText([]byte(v)) }}, {"recall", parsed(&c.Recall, yesno)},
		{"ca", parsed(&c.CA, list)}, {"allow", parsed(&c.Allow, list)}, {"keys", parsed(&c.Keys, keys)},
		{"hosts", parsed(&c.Hosts, list)}, {"body_limit", parsed(&c.BodyLimit, size)}, {"body_memory", parsed(&c.Bodies, size)},
	}
}

func text(to *string) func(string) error {
	return func(s string) error { *to = s; return nil }
}

func parsed[T any](to *T, parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		v, err := parse(s)
		if err != nil {
			return err
		}
		*to = v
		return nil
	}
}

// whole reads a whole number.
func whole(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	return n, nil
}

// ratio reads a part of one.
func ratio(s string) (*float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is not a number like 0.1", s)
	}
	return &v, nil
}

// yesno reads true or false.
func yesno(s string) (bool, error) {
	v, err := strconv.ParseBool(s)
	if err != nil {
		return false, fmt.Errorf("%q is not true or false", s)
	}
	return v, nil
}

// list reads elements with commas between them.
func list(s string) ([]string, error) { return strings.Split(s, ","), nil }

// keys reads TENANT:KEY,TENANT:KEY. Its errors do not quote.
func keys(s string) ([]Key, error) {
	var out []Key
	for part := range strings.SplitSeq(s, ",") {
		tenant, key, ok := strings.Cut(part, ":")
		if !ok || tenant == "" || key == "" {
			return nil, errors.New("want TENANT:KEY, with commas between several")
		}
		out = append(out, Key{Tenant: tenant, Key: Secret(key)})
	}
	return out, nil
}

// Hash returns the SHA-256 of the key.
func (k *Key) Hash() (h [sha256.Size]byte, err error) {
	if k.Key != "" {
		return sha256.Sum256([]byte(k.Key.Reveal())), nil
	}
	b, err := hex.DecodeString(k.SHA256)
	if err != nil || len(b) != len(h) {
		return h, fmt.Errorf("sha256: want %d hexadecimal digits", 2*len(h))
	}
	copy(h[:], b)
	return h, nil
}

// set sets what values holds. Errors name the setting; they do not quote keys.
func (c *Config) set(values map[string]string, place func(name string) string) error {
	settings := c.settings()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		if value == "" || name == "config" {
			continue
		}
		i := slices.IndexFunc(settings, func(s setting) bool { return s.name == name })
		if i < 0 {
			return fmt.Errorf("%s: there is no such setting", place(name))
		}
		if err := settings[i].set(value); err != nil {
			return fmt.Errorf("%s: %w", place(name), err)
		}
	}
	return nil
}

// variable and flag say how a setting is written in the environment and on a command line.
func variable(name string) string { return prefix + strings.ToUpper(name) }
func flag(name string) string     { return "--" + strings.ReplaceAll(name, "_", "-") }

const prefix = "DECANT_"

// environment returns the settings among the variables. One that begins like a setting but is unknown
// is an error, except those of other commands and those that Kubernetes and Docker invent for a
// service called decant.
func (c *Config) environment(environ []string) (map[string]string, error) {
	out := map[string]string{}
	known := map[string]bool{"CONFIG": true}
	for _, s := range c.settings() {
		known[strings.ToUpper(s.name)] = true
	}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		name, ours := strings.CutPrefix(name, prefix)
		switch {
		case !ours || value == "" || foreign(name):
		case !known[name]:
			return nil, fmt.Errorf("environment: there is no setting %s%s; remove it or correct its name", prefix, name)
		default:
			out[strings.ToLower(name)] = value
		}
	}
	return out, nil
}

func foreign(name string) bool {
	return name == "CATALOG" || name == "PORT" || strings.HasPrefix(name, "PORT_") || strings.HasPrefix(name, "SERVICE_")
}
