package config

import (
	"fmt"
	"net/url"
)

// Tools are what agents of the chat service may name besides the tools that the service has itself. Only its operator says what there is: no
// request does.
type Tools struct {
	MCP     string     `yaml:"mcp" names:"file"` // file that names MCP servers, in the form of .mcp.json; empty: there are none
	HTTP    []Endpoint `yaml:"http"`             // addresses that are called
	Fetch   bool       `yaml:"fetch"`            // pages of the web may be read
	Private []string   `yaml:"private"`          // hosts, with or without a port, whose addresses need not be public when fetch asks them
	Allow   []string   `yaml:"allow"`            // rules of the calls that nobody is asked about
	Ask     []string   `yaml:"ask"`              // that somebody is always asked about
	Deny    []string   `yaml:"deny"`             // that are never made
}

// An Endpoint is an address that is called as a tool.
type Endpoint struct {
	Name        string         `yaml:"name"`                      // of the tool
	Description string         `yaml:"description"`               // for the model
	URL         string         `yaml:"url"`                       // to which the arguments are posted as a JSON object
	Schema      map[string]any `yaml:"schema"`                    // JSON schema of the arguments; none: there are no arguments
	ReadOnly    bool           `yaml:"read_only"`                 // a call changes nothing, so nobody is asked about it
	HeadersFile string         `yaml:"headers_file" names:"file"` // lines NAME: VALUE that the address asks for
}

// Headers returns the headers that calls need. They are read when they are asked for.
func (e *Endpoint) Headers() (map[string]string, error) {
	if e.HeadersFile == "" {
		return nil, nil
	}
	secrets, err := headersIn(e.HeadersFile)
	if err != nil {
		return nil, fmt.Errorf("tools.http %s: headers_file: %w", e.Name, err)
	}
	out := map[string]string{}
	for name, value := range secrets {
		out[name] = value.Reveal()
	}
	return out, nil
}

// check finds endpoints that cannot be.
func (t *Tools) check() error {
	for i, e := range t.HTTP {
		u, err := url.Parse(e.URL)
		switch {
		case e.Name == "" || e.Description == "":
			return fmt.Errorf("tools.http[%d]: want a name and a description, for the model", i)
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
			return fmt.Errorf("tools.http[%d].url: want an address that begins with https:// or http://", i)
		case u.User != nil:
			return fmt.Errorf("tools.http[%d].url: it must not have a name and a password in it; write an Authorization header into headers_file", i)
		}
	}
	return nil
}
