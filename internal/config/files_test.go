package config_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/decantdev/decant/internal/config"
)

// noFiles are the settings of text that name no file which only the service reads. Presets hold no secret, and programs are run by others too.
var noFiles = strings.Fields(`listen anthropic_upstream openai_upstream upstreams.url upstreams.prefix upstreams.header upstreams.model upstreams.api_key_env
	preset mode project log log_format allow hosts metrics_listen
	keys.tenant keys.sha256 presets.model presets.client presets.preset budgets.per hooks.on_pour.command hooks.on_pour.url
	hooks.on_flush.command hooks.on_flush.url hooks.on_budget.command hooks.on_budget.url
	tracing.endpoint tracing.service summary.model summary.provider summary.base_url summary.api_key_env
	tools.http.name tools.http.description tools.http.url tools.private tools.allow tools.ask tools.deny`)

// Files returns the settings file and what every setting names that names a file. A new setting of text is either one of those, or stands in the list.
func TestFiles(t *testing.T) {
	var c config.Config
	var want []string
	var fill func(v reflect.Value, at string)
	fill = func(v reflect.Value, at string) {
		for field, value := range v.Fields() {
			name, names := field.Tag.Get("yaml"), field.Tag.Get("names")
			is := names == "file" || names == "database"
			if name == "-" && !is {
				continue // it comes of others
			}
			path := strings.TrimPrefix(at+"."+name, ".")
			switch to := value.Addr().Interface().(type) {
			case *string:
				*to = path
			case *[]string:
				*to = []string{path}
			default:
				if value.Kind() == reflect.Slice {
					value.Set(reflect.MakeSlice(value.Type(), 1, 1))
					value = value.Index(0)
				}
				if value.Kind() == reflect.Struct {
					fill(value, path)
				}
				continue
			}
			if is {
				want = append(want, path)
			} else if !slices.Contains(noFiles, path) {
				t.Errorf("%s: does it name a file that only the service reads? If so it gets the tag names:\"file\"; if not, a place in noFiles", path)
			}
		}
	}
	fill(reflect.ValueOf(&c).Elem(), "")
	if diff := cmp.Diff(want, c.Files()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, name := range []string{"-", "db", "ca", "tls.cert", "tls.key", "encryption.key_file", "tracing.headers_file", "summary.key_file"} {
		if !slices.Contains(want, name) {
			t.Errorf("%s is not among them: %q", name, want)
		}
	}
}

// A database on a server is no file, but the one with its address is.
func TestFilesOfADatabase(t *testing.T) {
	for db, want := range map[string][]string{
		"decant.db": {"/etc/decant.db"}, "@address": {"/etc/address"}, "postgres://u:hunter2@db/decant": nil,
	} {
		c, err := config.Load(config.Sources{Dir: "/etc", Flags: map[string]string{"db": db}})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Files(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", db, got, want)
		}
	}
}

// The file that settings were read from is one of them, whoever names it.
func TestTheFileOfSettingsIsKnown(t *testing.T) {
	for _, text := range []string{"# nothing", "mode: off"} {
		name := file(t, text)
		for _, s := range []config.Sources{{File: name}, {Environ: []string{"DECANT_CONFIG=" + name}}} {
			c, err := config.Load(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Files(); !slices.Equal(got, []string{name}) || c.Listen == "" {
				t.Errorf("%q, %v: %q", text, s, got)
			}
		}
	}
}
