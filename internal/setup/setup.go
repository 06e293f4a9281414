// Package setup makes what a configuration asks for: presets, budgets, the way out of the process, the database with its key,
// and the accounts for Decant's own calls.
package setup

import (
	"fmt"
	"net/url"
	"os"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/preset"
)

// Presets returns the policy for requests without a rule, and the rules.
func Presets(c *config.Config) (*preset.Preset, []gateway.Rule, error) {
	p, err := presetOf(c, c.Preset)
	if err != nil {
		return nil, nil, exit.Usage(err)
	}
	var rules []gateway.Rule
	for i, r := range c.Presets {
		chosen, err := presetOf(c, r.Preset)
		if err != nil {
			return nil, nil, exit.Usage(fmt.Errorf("presets[%d]: %w", i, err))
		}
		rules = append(rules, gateway.Rule{Model: r.Model, Client: r.Client, Preset: chosen})
	}
	return p, rules, nil
}

// Budgets returns the budgets of a configuration, in its order.
func Budgets(c *config.Config) (out []budget.Budget) {
	for _, b := range c.Budgets {
		out = append(out, budget.Budget(b))
	}
	return out
}

// presetOf returns a preset as a configuration has it.
func presetOf(c *config.Config, name string) (*preset.Preset, error) {
	p, err := Preset(name, c.Early)
	if err != nil || c.Flush == "" {
		return p, err
	}
	out := *p
	out.Flush.On = c.Flush == "on"
	return &out, nil
}

// Preset returns a preset at a level of early pours; an empty level means its own.
func Preset(name string, early config.Level) (*preset.Preset, error) {
	p, err := preset.Load(name)
	if err != nil || early == "" {
		return p, err
	}
	return p.WithEarlyPours(string(early))
}

// Outbound returns the only way out of the process.
func Outbound(c *config.Config) (*modelhttp.Outbound, error) {
	ca, err := Authorities(c)
	if err != nil {
		return nil, err
	}
	out, err := modelhttp.NewOutbound(modelhttp.OutboundOptions{Allow: c.Destinations(), CA: ca})
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("ca: %w", err))
	}
	return out, nil
}

// Authorities returns the certificates that a configuration trusts besides the system's.
func Authorities(c *config.Config) (out [][]byte, err error) {
	for _, name := range c.CA {
		pem, err := os.ReadFile(name)
		if err != nil {
			return nil, exit.Usage(fmt.Errorf("ca: %w", err))
		}
		out = append(out, pem)
	}
	return out, nil
}

// Routes returns the rows of a configuration's upstreams.
func Routes(c *config.Config) (out []gateway.Route) {
	for _, u := range c.Routes() {
		if at, err := url.Parse(u.URL); err == nil { // checked by Load
			out = append(out, gateway.Route{URL: at, Prefix: u.Prefix, Header: u.Header, Model: u.Model, Key: u.Key.Reveal()})
		}
	}
	return out
}
