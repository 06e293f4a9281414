package main

import (
	"errors"
	"maps"
	"reflect"
	"strconv"

	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
)

// gatewayFlags are the settings that a command line may give. Empty ones come from the environment, the
// file, or the defaults, in that order; so no flag has a default here.
type gatewayFlags struct {
	Config   string `placeholder:"FILE" help:"YAML file with settings (or DECANT_CONFIG)."`
	Upstream string `name:"anthropic-upstream" placeholder:"URL" help:"Base URL of the Messages API (https://api.anthropic.com)."`
	OpenAI   string `name:"openai-upstream" placeholder:"URL" help:"Base URL of OpenAI's APIs, with its /v1 (https://api.openai.com/v1), or off."`
	DB       string `name:"db" placeholder:"FILE" help:"Database file, or postgres:// address, or @FILE with one. Default: a file in your data directory."`
	command.KeyFileFlag
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
		"anthropic_upstream": f.Upstream, "openai_upstream": f.OpenAI, "db": f.DB, "encryption_key_file": f.EncryptionKeyFile, "preset": f.Preset, "early_pours": f.Early, "mode": f.Mode, "window": window, "log": f.Log,
	})
	c, err := config.Load(config.Sources{File: f.Config, Environ: s.Environ, Dir: s.Dir, Flags: flags})
	if err == nil && !reflect.ValueOf(c.Tools).IsZero() {
		err = errors.New("tools: the gateway has no agents; decant chat --serve heeds this setting")
	}
	if err != nil {
		return nil, exit.Usage(err)
	}
	return c, nil
}
