package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant/internal/config"
)

func TestWhereTracesGo(t *testing.T) {
	headers := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(headers, []byte("# for the collector\n\napi-key: from-file\nX-Scope: a: b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=https://standard:4318", "OTEL_EXPORTER_OTLP_HEADERS=api-key=from%20env,x=y", "OTEL_SERVICE_NAME=named",
		"OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=prod,service.name=other,a=b%2Cc", "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.25",
	}
	decant := map[string]string{"service.name": "decant"}
	for _, c := range []struct {
		name, file string
		environ    []string
		want       config.Export
	}{
		{"Off", "", all, config.Export{}},
		{"Plain", "tracing: {endpoint: 'https://collector:4318'}", nil, config.Export{URL: "https://collector:4318/v1/traces", Ratio: 1, Resource: decant}},
		{"WithPath", "tracing: {endpoint: 'https://collector/otlp/'}", nil, config.Export{URL: "https://collector/otlp/v1/traces", Ratio: 1, Resource: decant}},
		{"Whole", "tracing: {endpoint: 'https://collector/v1/traces'}", nil, config.Export{URL: "https://collector/v1/traces", Ratio: 1, Resource: decant}},
		{"ByVariable", "", []string{"DECANT_TRACING_ENDPOINT=http://127.0.0.1:4318", "DECANT_TRACING_SAMPLE=0.5", "DECANT_TRACING_SERVICE=s"},
			config.Export{URL: "http://127.0.0.1:4318/v1/traces", Ratio: 0.5, Resource: map[string]string{"service.name": "s"}}},
		{"Standard", "tracing: {endpoint: env}", all, config.Export{
			URL: "https://standard:4318/v1/traces", Ratio: 0.25, Alone: true, Headers: map[string]config.Secret{"Api-Key": "from env", "X": "y"},
			Resource: map[string]string{"service.name": "named", "deployment.environment.name": "prod", "a": "b,c"},
		}},
		{"SettingsWin", "tracing: {endpoint: 'https://collector', sample: 0, service: mine, headers_file: " + headers + "}", all, config.Export{
			URL: "https://collector/v1/traces", Headers: map[string]config.Secret{"Api-Key": "from-file", "X-Scope": "a: b"},
			Resource: map[string]string{"service.name": "mine", "deployment.environment.name": "prod", "a": "b,c"},
		}},
		{"OnlyForTraces", "tracing: {endpoint: env}", append(all, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://traces/x", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=only=this", "OTEL_TRACES_SAMPLER=parentbased_always_off"),
			config.Export{URL: "https://traces/x", Headers: map[string]config.Secret{"Only": "this"}, Resource: map[string]string{"service.name": "named", "deployment.environment.name": "prod", "a": "b,c"}}},
		{"Disabled", "tracing: {endpoint: env}", append(all, "OTEL_SDK_DISABLED=true"), config.Export{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := ""
			if c.file != "" {
				name = file(t, c.file)
			}
			got, err := config.Load(config.Sources{File: name, Environ: c.environ})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got.Tracing.Export); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			destinations := fmt.Sprint(got.Destinations())
			if want := strings.TrimSpace("https://api.anthropic.com https://api.openai.com/v1 https://chatgpt.com/backend-api/codex " + c.want.URL); destinations != "["+want+"]" {
				t.Errorf("destinations %s", destinations)
			}
			if s := fmt.Sprintf("%v %+v", got, got.Tracing.Export); strings.Contains(s, "from") {
				t.Errorf("a header is printed: %s", s)
			}
		})
	}
}

func TestTracingThatCannotBe(t *testing.T) {
	headers := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(headers, []byte("api-key: fine\nsecret without a colon\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const env = "tracing: {endpoint: env}"
	for _, c := range []struct{ name, file, environ, want string }{
		{"NoEndpoint", "tracing: {sample: 0.5}", "", "tracing: no endpoint"},
		{"Unknown", "tracing: {endpont: x}", "", "endpont"},
		{"NoURL", "tracing: {endpoint: 'collector:4318'}", "", "tracing.endpoint: want a base URL like https://collector:4318"},
		{"Password", "tracing: {endpoint: 'https://u:secret@collector'}", "", "tracing.endpoint: it holds a password"},
		{"Query", "tracing: {endpoint: 'https://collector?key=secret'}", "", "tracing.endpoint: want a base URL"},
		{"Sample", "tracing: {endpoint: 'https://c', sample: 2}", "", "tracing.sample: 2 is not from 0 to 1"},
		{"NoFile", "tracing: {endpoint: 'https://c', headers_file: /nowhere/h}", "", "tracing.headers_file: open /nowhere/h"},
		{"NoHeader", "tracing: {endpoint: 'https://c', headers_file: " + headers + "}", "", "line 2: want NAME: VALUE"},
		{"NothingInEnv", env, "", "neither OTEL_EXPORTER_OTLP_TRACES_ENDPOINT nor OTEL_EXPORTER_OTLP_ENDPOINT is set"},
		{"GRPC", env, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", `OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" is not spoken`},
		{"Sampler", "tracing: {endpoint: 'https://c'}", "OTEL_TRACES_SAMPLER=jaeger_remote", `OTEL_TRACES_SAMPLER: "jaeger_remote" is not one of`},
		{"SamplerArg", "tracing: {endpoint: 'https://c'}", "OTEL_TRACES_SAMPLER=traceidratio OTEL_TRACES_SAMPLER_ARG=half", `OTEL_TRACES_SAMPLER_ARG: "half"`},
		{"Resource", "tracing: {endpoint: 'https://c'}", "OTEL_RESOURCE_ATTRIBUTES=secret", "OTEL_RESOURCE_ATTRIBUTES: want NAME=VALUE"},
		{"Headers", "tracing: {endpoint: 'https://c'}", "OTEL_EXPORTER_OTLP_HEADERS=secret", "OTEL_EXPORTER_OTLP_HEADERS: want NAME=VALUE"},
		{"OddHeader", "tracing: {endpoint: 'https://c'}", "OTEL_EXPORTER_OTLP_HEADERS=a=secret%0Ab", "OTEL_EXPORTER_OTLP_HEADERS: what it holds is no header"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := config.Load(config.Sources{File: file(t, c.file), Environ: strings.Fields(c.environ)})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}
