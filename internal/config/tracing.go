package config

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// Tracing says where traces go and which. Without an endpoint nothing is traced, and nothing of OpenTelemetry's own
// variables is looked at. With one, they say what is left empty here.
type Tracing struct {
	Endpoint    string   `yaml:"endpoint"`                  // base URL of a collector; "env": the one that OpenTelemetry's variables name; empty: none
	Sample      *float64 `yaml:"sample"`                    // part of the traces that is recorded, where the client does not say
	HeadersFile string   `yaml:"headers_file" names:"file"` // lines NAME: VALUE that the collector asks for
	Service     string   `yaml:"service"`                   // what the gateway is called
	Tenants     bool     `yaml:"tenants"`                   // spans name the tenant

	Export Export `yaml:"-"` // what comes of all that
}

// An Export is how traces are exported, from settings and OpenTelemetry's variables.
type Export struct {
	URL      string            // that spans are posted to; empty: there are no traces
	Ratio    float64           // of the traces that are recorded
	Alone    bool              // whether the client records its trace does not count
	Headers  map[string]Secret // that the collector asks for
	Resource map[string]string // what describes the process, service.name among it
}

// Endpoint returns where to post spans, and with which headers.
func (e *Export) Endpoint() (*url.URL, http.Header, error) {
	at, err := url.Parse(e.URL)
	if err != nil {
		return nil, nil, err // cannot happen: the configuration was checked
	}
	header := http.Header{}
	for name, value := range e.Headers {
		header.Set(name, value.Reveal())
	}
	return at, header, nil
}

// Variables of OpenTelemetry that count where tracing is on.
const (
	otelEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	otelTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	otelHeaders        = "OTEL_EXPORTER_OTLP_HEADERS"
	otelTracesHeaders  = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
	otelProtocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	otelTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	otelService        = "OTEL_SERVICE_NAME"
	otelResource       = "OTEL_RESOURCE_ATTRIBUTES"
	otelSampler        = "OTEL_TRACES_SAMPLER"
	otelSamplerArg     = "OTEL_TRACES_SAMPLER_ARG"
	otelDisabled       = "OTEL_SDK_DISABLED"
)

// fromEnvironment is the endpoint that OpenTelemetry's variables name.
const fromEnvironment = "env"

// tracesPath is where a collector takes traces.
const tracesPath = "/v1/traces"

// resolve finds out how traces are exported.
func (t *Tracing) resolve(environ []string) (err error) {
	if t.Endpoint == "" {
		if t.Sample != nil || t.HeadersFile != "" || t.Service != "" || t.Tenants {
			return errors.New("tracing: no endpoint; set tracing.endpoint (DECANT_TRACING_ENDPOINT) to the base URL of a collector, or remove the others")
		}
		return nil
	}
	env := standard(environ)
	if strings.EqualFold(env[otelDisabled], "true") {
		return nil
	}
	var e Export
	if e.URL, err = t.address(env); err != nil {
		return err
	}
	if e.Ratio, e.Alone, err = t.sampling(env); err != nil {
		return err
	}
	if e.Headers, err = t.headers(env); err != nil {
		return err
	}
	if e.Resource, err = t.resource(env); err != nil {
		return err
	}
	t.Export = e
	return nil
}

// standard returns the variables of OpenTelemetry that are set.
func standard(environ []string) map[string]string {
	out := map[string]string{}
	for _, e := range environ {
		if name, value, _ := strings.Cut(e, "="); strings.HasPrefix(name, "OTEL_") && strings.TrimSpace(value) != "" {
			out[name] = strings.TrimSpace(value)
		}
	}
	return out
}

// address returns the URL that spans are posted to.
func (t *Tracing) address(env map[string]string) (string, error) {
	name, base := "tracing.endpoint", t.Endpoint
	if base == fromEnvironment {
		for _, p := range []string{otelTracesProtocol, otelProtocol} {
			if v := env[p]; v != "" && v != "http/protobuf" {
				return "", fmt.Errorf("%s: %q is not spoken; name an endpoint for http/protobuf in tracing.endpoint, mostly on port 4318", p, v)
			}
		}
		if whole := env[otelTracesEndpoint]; whole != "" { // without anything added, by the specification
			_, err := collector(otelTracesEndpoint, whole)
			return whole, err
		}
		if name, base = otelEndpoint, env[otelEndpoint]; base == "" {
			return "", fmt.Errorf("tracing.endpoint: env, and neither %s nor %s is set", otelTracesEndpoint, otelEndpoint)
		}
	}
	u, err := collector(name, base)
	if err != nil {
		return "", err
	}
	if !strings.HasSuffix(u.Path, tracesPath) {
		u = u.JoinPath(tracesPath)
	}
	return u.String(), nil
}

// collector parses the URL of a collector. What it returns in errors does not show a password.
func collector(name, s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: the address cannot be parsed; want one like https://collector:4318", name)
	case u.User != nil:
		return nil, fmt.Errorf("%s: it holds a password; put it into tracing.headers_file", name)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.RawQuery != "", u.Fragment != "":
		return nil, fmt.Errorf("%s: want a base URL like https://collector:4318", name)
	}
	return u, nil
}

// sampling returns which part of the traces is recorded, and whether the client's word does not count.
func (t *Tracing) sampling(env map[string]string) (ratio float64, alone bool, err error) {
	if t.Sample != nil {
		if *t.Sample < 0 || *t.Sample > 1 {
			return 0, false, fmt.Errorf("tracing.sample: %g is not from 0 to 1", *t.Sample)
		}
		return *t.Sample, false, nil
	}
	name, ofParent := strings.CutPrefix(strings.ToLower(env[otelSampler]), "parentbased_")
	switch name {
	case "":
		return 1, false, nil
	case "always_on":
		return 1, !ofParent, nil
	case "always_off":
		return 0, !ofParent, nil
	case "traceidratio":
		ratio = 1
		if arg := env[otelSamplerArg]; arg != "" {
			if ratio, err = strconv.ParseFloat(arg, 64); err != nil || ratio < 0 || ratio > 1 {
				return 0, false, fmt.Errorf("%s: %q is not a number from 0 to 1", otelSamplerArg, arg)
			}
		}
		return ratio, !ofParent, nil
	}
	return 0, false, fmt.Errorf("%s: %q is not one of always_on, always_off, traceidratio, or one of these after parentbased_", otelSampler, env[otelSampler])
}

// resource returns what describes the process.
func (t *Tracing) resource(env map[string]string) (map[string]string, error) {
	out, err := pairs(env[otelResource])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", otelResource, err)
	}
	for _, service := range []string{env[otelService], t.Service} {
		if service != "" {
			out["service.name"] = service
		}
	}
	if out["service.name"] == "" {
		out["service.name"] = "decant"
	}
	return out, nil
}

// pairs reads NAME=VALUE,NAME=VALUE, where both may be written with %20. Its errors do not quote.
func pairs(s string) (map[string]string, error) {
	out := map[string]string{}
	for part := range strings.SplitSeq(s, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		name, err1 := url.PathUnescape(strings.TrimSpace(name))
		value, err2 := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || err1 != nil || err2 != nil {
			return nil, errors.New("want NAME=VALUE, with commas between several")
		}
		out[name] = value
	}
	return out, nil
}

// headers returns what is sent to the collector with every request.
func (t *Tracing) headers(env map[string]string) (map[string]Secret, error) {
	if t.HeadersFile != "" {
		out, err := headersIn(t.HeadersFile)
		if err != nil {
			err = fmt.Errorf("tracing.headers_file: %w", err)
		}
		return out, err
	}
	name := otelTracesHeaders
	if env[name] == "" {
		name = otelHeaders
	}
	values, err := pairs(env[name])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var out map[string]Secret
	for n, v := range values {
		if !header(n, v) {
			return nil, fmt.Errorf("%s: what it holds is no header", name)
		}
		if out == nil {
			out = map[string]Secret{}
		}
		out[http.CanonicalHeaderKey(n)] = Secret(v)
	}
	return out, nil
}

// headersIn reads a file of lines NAME: VALUE. Empty lines, and those that begin with #, say nothing.
func headersIn(file string) (map[string]Secret, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	out, n := map[string]Secret{}, 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !header(name, value) {
			return nil, fmt.Errorf("%s, line %d: want NAME: VALUE", file, n)
		}
		out[http.CanonicalHeaderKey(name)] = Secret(value)
	}
	return out, nil
}

// header reports whether a name and a value can be sent as a header.
func header(name, value string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) }
	return name != "" && !strings.ContainsFunc(name, odd) && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
