package mcp

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json"
)

// A Server says how a server is reached: by a command that is started, or at a URL.
type Server struct {
	Name string
	Type string // "stdio", "http" or "sse"; empty: stdio where there is a command, else http

	Command string
	Args    []string
	Env     map[string]string // besides what programs need to find their way
	Dir     string            // that it is started in; empty: that of this program

	URL     string
	Headers map[string]string // sent to this server alone
}

// entry is a server in the file.
type entry struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

// Read reads a file of the form of .mcp.json, an object with the member mcpServers. ${NAME} and ${NAME:-default} in commands,
// arguments, environments, URLs and headers are replaced by what env knows; nil: the environment. The servers are in the order of
// their names. An error names the file and the member.
func Read(name string, src []byte, env func(string) (string, bool)) ([]Server, error) {
	if env == nil {
		env = os.LookupEnv
	}
	var file struct {
		Servers map[string]entry `json:"mcpServers"`
	}
	if err := json.Unmarshal(src, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if file.Servers == nil {
		return nil, fmt.Errorf("%s: there is no member mcpServers", name)
	}
	var out []Server
	for _, id := range slices.Sorted(maps.Keys(file.Servers)) {
		e := file.Servers[id]
		x := expander{env: env}
		s := Server{
			Name: id, Type: e.Type, Command: x.text("command", e.Command), Args: x.list("args", e.Args), Env: x.table("env", e.Env),
			URL: x.text("url", e.URL), Headers: x.table("headers", e.Headers),
		}
		if err := errors.Join(append(x.errs, s.settle())...); err != nil {
			return nil, fmt.Errorf("%s: mcpServers.%s: %w", name, id, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// settle sets the type of a server, or says what is wrong with it.
func (s *Server) settle() error {
	if s.Name == "" {
		return errors.New("a server needs a name")
	}
	if s.Type == "" {
		s.Type = "http"
		if s.Command != "" {
			s.Type = "stdio"
		}
	}
	switch s.Type {
	case "stdio":
		if s.Command == "" {
			return errors.New("command: it is missing")
		}
	case "http", "sse":
		u, err := url.Parse(s.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("url: %q is not the address of a server", s.URL)
		}
	default:
		return fmt.Errorf("type: %q: want stdio, http or sse", s.Type)
	}
	return nil
}

// variable is a place that the environment fills.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// An expander replaces variables, and keeps what is wrong with them.
type expander struct {
	env  func(string) (string, bool)
	errs []error
}

// text expands a text, which is that of a member.
func (x *expander) text(member, s string) string {
	return variable.ReplaceAllStringFunc(s, func(found string) string {
		m := variable.FindStringSubmatch(found)
		if v, ok := x.env(m[1]); ok && (v != "" || m[2] == "") {
			return v
		}
		if m[2] == "" {
			x.errs = append(x.errs, fmt.Errorf("%s: the variable %s is not set; ${%s:-text} would name what stands for it", member, m[1], m[1]))
		}
		return m[3]
	})
}

// list expands the texts of a list.
func (x *expander) list(member string, list []string) (out []string) {
	for i, s := range list {
		out = append(out, x.text(fmt.Sprintf("%s[%d]", member, i), s))
	}
	return out
}

// table expands the values of a table.
func (x *expander) table(member string, table map[string]string) map[string]string {
	if table == nil {
		return nil
	}
	out := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(table)) {
		out[k] = x.text(member+"."+k, table[k])
	}
	return out
}
