package main

import (
	"fmt"
	"maps"
	"os"
	"strconv"

	"github.com/decantdev/decant/budget"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/preset"
)

// gatewayFlags are the settings that a command line may give. Empty ones come from the environment, the
// file, or the defaults, in that order; so no flag has a default here.
type gatewayFlags struct {
	Config   string `placeholder:"FILE" help:"YAML file with settings (or DECANT_CONFIG)."`
	Upstream string `name:"anthropic-upstream" placeholder:"URL" help:"Base URL of the Messages API (https://api.anthropic.com)."`
	DB       string `name:"db" placeholder:"FILE" help:"Database file. Default: one in your data directory."`
	keyFileFlag
	Preset              string `placeholder:"NAME" help:"Policy for requests that match no rule (default)."`
	Early               string `name:"early-pours" placeholder:"LEVEL" help:"How eagerly to pour early to save money: off, low, default or high. Overrides presets."`
	Mode                string `placeholder:"MODE" help:"manage, observe (record and plan, change nothing) or off. Default: manage."`
	Window              int    `placeholder:"TOKENS" help:"Window for every model, in place of the catalogue's."`
	SummaryModel        string `placeholder:"ID" help:"Model that writes records, or off. Put its credential in the settings."`
	AddMarkers          bool   `help:"Add cache markers when the client sets none, if it saves money."`
	KeepWarm            bool   `help:"Keep the provider's cache of idle conversations warm, if it saves money. Needs a credential: see --use-client-credential."`
	UseClientCredential bool   `help:"Use a client's credential, from memory only, for Decant's own calls about its conversation."`
	Flush               string `placeholder:"on|off" help:"Save what is worth remembering before a pour. Overrides presets."`
	Recall              bool   `help:"Give new conversations what is remembered of their project."`
	Log                 string `placeholder:"LEVEL" help:"Minimum log level: debug, info, warn or error. Default: info."`
}

// load returns the configuration; listen may be empty.
func (f *gatewayFlags) load(s *process.Process, listen string) (*config.Config, error) {
	return f.loadWith(s, map[string]string{"listen": listen})
}

// loadWith returns the configuration with more flags.
func (f *gatewayFlags) loadWith(s *process.Process, flags map[string]string) (*config.Config, error) {
	window := ""
	if f.Window != 0 {
		window = strconv.Itoa(f.Window)
	}
	for name, on := range map[string]bool{"use_client_credential": f.UseClientCredential, "add_markers": f.AddMarkers, "keep_warm": f.KeepWarm, "recall": f.Recall} {
		if on {
			flags[name] = "true"
		}
	}
	maps.Copy(flags, map[string]string{
		"summary_model": f.SummaryModel, "flush": f.Flush,
		"anthropic_upstream": f.Upstream, "db": f.DB, "encryption_key_file": f.EncryptionKeyFile, "preset": f.Preset, "early_pours": f.Early, "mode": f.Mode, "window": window, "log": f.Log,
	})
	c, err := config.Load(config.Sources{File: f.Config, Environ: s.Environ, Dir: s.Dir, Flags: flags})
	if err != nil {
		return nil, exit.Usage(err)
	}
	return c, nil
}

// presets returns the policy for requests without a rule, and the rules.
func presets(c *config.Config) (*preset.Preset, []gateway.Rule, error) {
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

func budgetsOf(c *config.Config) (out []budget.Budget) {
	for _, b := range c.Budgets {
		out = append(out, budget.Budget(b))
	}
	return out
}

// presetOf returns a preset as a configuration has it.
func presetOf(c *config.Config, name string) (*preset.Preset, error) {
	p, err := presetAt(name, c.Early)
	if err != nil || c.Flush == "" {
		return p, err
	}
	return p.WithFlush(c.Flush == "on"), nil
}

// presetAt returns a preset at a level of early pours; an empty level means its own.
func presetAt(name string, early config.Level) (*preset.Preset, error) {
	p, err := preset.Load(name)
	if err != nil || early == "" {
		return p, err
	}
	return p.WithEarlyPours(string(early))
}

// outbound returns the only way out of the process.
func outbound(c *config.Config) (*gateway.Outbound, error) {
	ca, err := authorities(c)
	if err != nil {
		return nil, err
	}
	out, err := gateway.NewOutbound(gateway.OutboundOptions{Allow: c.Destinations(), CA: ca})
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("ca: %w", err))
	}
	return out, nil
}

// authorities returns the certificates that a configuration trusts besides the system's.
func authorities(c *config.Config) (out [][]byte, err error) {
	for _, name := range c.CA {
		pem, err := os.ReadFile(name)
		if err != nil {
			return nil, exit.Usage(fmt.Errorf("ca: %w", err))
		}
		out = append(out, pem)
	}
	return out, nil
}
