package chatcmd

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/mcp"
	"github.com/decantdev/decant/agent/permission"
	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/secret"
)

// lend gives agents of the service the tools that its settings name. A server that cannot be started is a warning: conversations go on without it.
func lend(set *config.Tools) step {
	return func(s *process.Process, o *chat.Options) (func() error, error) {
		servers, err := serversIn(s, set.MCP)
		if err != nil {
			return nil, exit.Input(err)
		}
		ctx, stop := s.Context()
		defer stop()
		pages, web := tools.NewWeb(tools.Fetch{Private: set.Private}), tools.NewWeb(tools.Fetch{Private: named(set, servers)})
		open := mcp.Open(ctx, servers, mcp.Options{Base: web.Transport()})
		end := func() error { defer pages.Close(); defer web.Close(); return open.Close() }
		if err := open.Err(); err != nil {
			s.Warn(errors.New(secret.Mask(err.Error())))
		}
		if o.Tools, err = open.Tools(ctx); err == nil {
			err = endpoints(web, set, o)
		}
		if set.Fetch {
			o.Tools = append(o.Tools, pages.Fetch())
		}
		return end, err
	}
}

// serversIn returns the MCP servers that a file names; of no file there are none.
func serversIn(s *process.Process, name string) ([]mcp.Server, error) {
	if name == "" {
		return nil, nil
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("tools.mcp: %w", err)
	}
	return mcp.Read(name, src, s.LookupEnv)
}

// named returns the hosts, with their ports, whose addresses need not be public: whoever names one in the settings knows where it is.
// Models name no address there.
func named(set *config.Tools, servers []mcp.Server) []string {
	hosts := slices.Clone(set.Private)
	add := func(address string) {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			return
		}
		port := "443"
		if u.Scheme == "http" {
			port = "80"
		}
		hosts = append(hosts, net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port)))
	}
	for i := range servers {
		add(servers[i].URL)
	}
	for i := range set.HTTP {
		add(set.HTTP[i].URL)
	}
	return hosts
}

// endpoints gives a chat the addresses that are called as tools.
func endpoints(web *tools.Web, set *config.Tools, o *chat.Options) error {
	for i := range set.HTTP {
		e := &set.HTTP[i]
		headers, err := e.Headers()
		if err != nil {
			return exit.Input(err)
		}
		to := tools.Endpoint{Name: e.Name, Description: e.Description, URL: e.URL, Headers: headers, ReadOnly: e.ReadOnly}
		if e.Schema != nil {
			if to.Schema, err = json.Marshal(e.Schema, json.Deterministic(true)); err != nil {
				return exit.Input(fmt.Errorf("tools.http %s: schema: %w", e.Name, err))
			}
		}
		o.Tools = append(o.Tools, web.Endpoint(to))
	}
	return nil
}

// rulesIn returns the rules of the settings for calls.
func rulesIn(set *config.Tools) (out permission.Rules, err error) {
	for _, list := range []struct {
		key   string
		kind  agent.VerdictKind
		texts []string
	}{{"allow", agent.Allow, set.Allow}, {"ask", agent.Ask, set.Ask}, {"deny", agent.Deny, set.Deny}} {
		for i, text := range list.texts {
			r, err := permission.Parse(text)
			if err == nil {
				err = out.Add(list.kind, r)
			}
			if err != nil {
				return out, fmt.Errorf("tools.%s[%d]: %w", list.key, i, err)
			}
		}
	}
	return out, nil
}
