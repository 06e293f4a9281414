package source

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/yamltext"
)

// An entry is one element of the list "sources" of a file. Its type says which of the other keys it may have. Credentials stand in the
// environment or in files of their own, never here.
type entry struct {
	Type string `yaml:"type"`

	Files   []string `yaml:"files"`   // jsonl, log
	Service string   `yaml:"service"` // log

	Command []string `yaml:"command"` // command
	Dir     string   `yaml:"dir"`
	Timeout string   `yaml:"timeout"` // such as 30s

	Account int      `yaml:"account"` // newrelic; without it NEW_RELIC_ACCOUNT_ID
	Region  string   `yaml:"region"`  // without it NEW_RELIC_REGION, then us
	Apps    []string `yaml:"apps"`
	KeyEnv  string   `yaml:"key_env"`  // variable with the key; without it NEW_RELIC_API_KEY or SENTRY_AUTH_TOKEN
	KeyFile string   `yaml:"key_file"` // in a file of the user's own only

	Organization string   `yaml:"organization"` // sentry; without it SENTRY_ORG
	Projects     []string `yaml:"projects"`
	Environment  string   `yaml:"environment"`
	PerIssue     int      `yaml:"per_issue"`

	BaseURL string `yaml:"base_url"` // newrelic, sentry; without it NEW_RELIC_URL or SENTRY_URL

	own bool // the file is the user's own
}

// keys are what an entry may have beside its type, and which of them it must have.
var keys = map[string]struct{ may, must []string }{
	"jsonl":    {[]string{"files"}, []string{"files"}},
	"log":      {[]string{"files", "service"}, []string{"files"}},
	"command":  {[]string{"command", "dir", "timeout"}, []string{"command"}},
	"newrelic": {[]string{"account", "region", "apps", "key_env", "key_file", "base_url"}, nil},
	"sentry":   {[]string{"organization", "projects", "environment", "per_issue", "key_env", "key_file", "base_url"}, nil},
}

// Read returns the sources of the list "sources" in a YAML file, whose other keys are somebody else's. own says that
// the file is the user's own; one of a repository chooses neither which credential of the user is sent, nor where to.
// Of the environment, a variable with DECANT_TRIAGE_ before its name is stronger than the one
// without. A file without such a list has the sources of [fromEnvironment]. Errors name the file, the line
// and the field.
func Read(file string, data []byte, own bool, p *process.Process) ([]Source, error) {
	tree, err := yamltext.Parse(data)
	if err != nil {
		at, text := placed(err, 1)
		return nil, fmt.Errorf("%s:%d: %s", file, at, text)
	}
	path, err := yaml.PathString("$.sources")
	if err != nil {
		return nil, err
	}
	node, err := path.FilterFile(tree)
	if yaml.IsNotFoundNodeError(err) || err == nil && node == nil {
		return fromEnvironment(p)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: sources: %w", file, err)
	}
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return nil, fmt.Errorf("%s:%d: sources: want a list", file, line(node))
	}
	var out []Source
	for i, n := range list.Values {
		s, field, err := readEntry(file, n, own, p)
		if err != nil {
			at := line(n)
			if f := fieldNode(n, field); f != nil {
				at = line(f)
			}
			at, text := placed(err, at)
			return nil, fmt.Errorf("%s:%d: %s: %s", file, at, strings.TrimSuffix(fmt.Sprintf("sources[%d].%s", i, field), "."), text)
		}
		out = append(out, s)
	}
	return out, nil
}

// readEntry returns the source that an entry of a file describes; with an error, the field that is wrong.
func readEntry(file string, n ast.Node, own bool, p *process.Process) (Source, string, error) {
	m, ok := n.(ast.MapNode)
	if !ok {
		return nil, "", errors.New("want keys with values, such as type: log")
	}
	var names []string
	for it := m.MapRange(); it.Next(); {
		names = append(names, it.Key().String())
	}
	e := entry{own: own}
	if err := yaml.NodeToValue(n, &e, yaml.Strict()); err != nil {
		return nil, "", err
	}
	known, ok := keys[e.Type]
	if !ok {
		return nil, "type", fmt.Errorf("%q; want jsonl, log, command, newrelic or sentry", e.Type)
	}
	for _, name := range names {
		if name != "type" && !slices.Contains(known.may, name) {
			return nil, name, fmt.Errorf("a source of type %s has no such key; it may have %s", e.Type, strings.Join(known.may, ", "))
		}
	}
	for _, name := range known.must {
		if !slices.Contains(names, name) {
			return nil, name, fmt.Errorf("missing; a source of type %s needs it", e.Type)
		}
	}
	e.below(filepath.Dir(file))
	return e.source(p)
}

// below makes the paths of an entry those of the folder of the settings.
func (e *entry) below(dir string) {
	for i, f := range e.Files {
		if f != "-" && !filepath.IsAbs(f) {
			e.Files[i] = filepath.Join(dir, f)
		}
	}
	if e.Dir != "" && !filepath.IsAbs(e.Dir) {
		e.Dir = filepath.Join(dir, e.Dir)
	}
}

// source makes the source.
func (e *entry) source(p *process.Process) (Source, string, error) {
	switch e.Type {
	case "jsonl":
		return &JSONL{Files: paths(p, e.Files), In: p.In}, "", nil
	case "log":
		return &Log{Files: paths(p, e.Files), In: p.In, Service: e.Service}, "", nil
	case "command":
		c := &Command{Args: e.Command, Dir: cmp.Or(p.Path(e.Dir), p.Dir), Env: p.Environ}
		if e.Timeout != "" {
			var err error
			if c.Timeout, err = time.ParseDuration(e.Timeout); err != nil || c.Timeout <= 0 {
				return nil, "timeout", fmt.Errorf("%q is not a duration like 30s", e.Timeout)
			}
		}
		return c, "", nil
	}
	if err := e.bound(p); err != nil {
		return nil, "base_url", err
	}
	key, field, err := e.key(p)
	if err != nil {
		return nil, field, err
	}
	if e.Type == "newrelic" {
		return e.newRelic(key, p)
	}
	return e.sentry(key, p)
}

func (e *entry) newRelic(key config.Secret, p *process.Process) (Source, string, error) {
	n := &NewRelic{Account: e.Account, Key: key, Region: cmp.Or(e.Region, variable(p, "NEW_RELIC_REGION")), Apps: e.Apps, Base: cmp.Or(e.BaseURL, variable(p, vendors[e.Type].address))}
	if e.Apps == nil {
		n.Apps = list(variable(p, "NEW_RELIC_APP_NAME"))
	}
	if e.Account == 0 {
		var err error
		if n.Account, err = number64(variable(p, "NEW_RELIC_ACCOUNT_ID")); err != nil {
			return nil, "account", fmt.Errorf("NEW_RELIC_ACCOUNT_ID: %w", err)
		}
	}
	if _, ok := regions[strings.ToLower(n.Region)]; !ok {
		return nil, "region", fmt.Errorf("%q; want us or eu", n.Region)
	}
	if n.Account <= 0 {
		return nil, "account", errors.New("want the number of the account, here or in NEW_RELIC_ACCOUNT_ID")
	}
	return n, "", nil
}

func (e *entry) sentry(token config.Secret, p *process.Process) (Source, string, error) {
	s := &Sentry{Organization: cmp.Or(e.Organization, variable(p, "SENTRY_ORG")), Token: token, Projects: e.Projects, Environment: e.Environment,
		PerIssue: e.PerIssue, Base: cmp.Or(e.BaseURL, variable(p, vendors[e.Type].address))}
	if e.Projects == nil {
		s.Projects = list(variable(p, "SENTRY_PROJECT"))
	}
	switch {
	case s.Organization == "":
		return nil, "organization", errors.New("want the slug of the organization, here or in SENTRY_ORG")
	case e.PerIssue < 0:
		return nil, "per_issue", fmt.Errorf("%d; want a number of events, 0 for 100", e.PerIssue)
	}
	return s, "", nil
}

// key returns the credential that an entry names. One that is not set is none: the source says so when it is asked.
func (e *entry) key(p *process.Process) (config.Secret, string, error) {
	v := vendors[e.Type]
	switch {
	case e.KeyFile != "" && e.KeyEnv != "":
		return "", "key_file", errors.New("want either key_env or key_file")
	case e.KeyFile != "" && !e.own:
		return "", "key_file", errors.New("a repository does not choose which file of yours is sent: " + ownFile)
	case e.KeyEnv != "" && !e.own && !v.names(e.KeyEnv):
		return "", "key_env", fmt.Errorf("%q; a repository names variables that begin with %s only: rename it, or %s", cut(e.KeyEnv, 60), v.prefix, ownFile)
	}
	if e.KeyFile != "" {
		text, err := os.ReadFile(p.Path(e.KeyFile))
		if err != nil {
			return "", "key_file", err
		}
		return config.Secret(strings.TrimSpace(string(text))), "", nil
	}
	if e.KeyEnv != "" {
		if value := p.Getenv(e.KeyEnv); value != "" {
			return config.Secret(value), "", nil
		}
		return "", "key_env", fmt.Errorf("the variable %s is not set", cut(e.KeyEnv, 60))
	}
	return config.Secret(variable(p, v.key)), "", nil
}

// fromEnvironment returns the sources whose credentials are in the environment: New Relic with NEW_RELIC_API_KEY and NEW_RELIC_ACCOUNT_ID, Sentry
// with SENTRY_AUTH_TOKEN and SENTRY_ORG. There may be none.
func fromEnvironment(p *process.Process) (out []Source, err error) {
	for _, e := range []*entry{{Type: "newrelic"}, {Type: "sentry"}} {
		if key, _, _ := e.key(p); key == "" {
			continue
		}
		s, field, err := e.source(p)
		if err != nil {
			return nil, fmt.Errorf("environment: %s: %s: %w", e.Type, field, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// variable returns a variable of the environment, with DECANT_TRIAGE_ before its name or without.
func variable(p *process.Process, name string) string {
	return cmp.Or(p.Getenv("DECANT_TRIAGE_"+name), p.Getenv(name))
}

func list(s string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' }), func(v string) bool { return strings.TrimSpace(v) == "" })
}

func number64(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%q is not the number of an account", cut(s, 40))
	}
	return n, nil
}

// line returns the line of a node.
func line(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 1
	}
	return n.GetToken().Position.Line
}

// fieldNode returns the value of a field of an entry, nil where there is none.
func fieldNode(n ast.Node, field string) ast.Node {
	m, ok := n.(ast.MapNode)
	if !ok || field == "" {
		return nil
	}
	for it := m.MapRange(); it.Next(); {
		if it.Key().String() == field {
			return it.Key()
		}
	}
	return nil
}

var position = lazyregexp.New(`^\[(\d+):\d+\] `)

// placed returns what is wrong with a file in words, and its line: the decoder's, or else the one that is given.
func placed(err error, line int) (int, string) {
	text := humanize.YAMLError(err, false)
	if m := position.FindStringSubmatch(text); m != nil {
		return number(m[1]), strings.TrimSpace(text[len(m[0]):])
	}
	return line, text
}
