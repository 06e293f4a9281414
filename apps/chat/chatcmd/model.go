package chatcmd

import (
	"errors"
	"net/http"
	"strings"

	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/provider/openai"
	"github.com/decantdev/decant/token"
)

// DefaultModel is the model of a chat that names none.
const DefaultModel = "claude-sonnet-5-5"

// ErrNoModel says both ways to get one.
var ErrNoModel = errors.New(`there is no key for a model. Either set ANTHROPIC_API_KEY (or OPENAI_API_KEY, or OPENAI_BASE_URL for a model on this machine, with --model), or try it without a key: decant chat --sandbox`)

// TalkTo says whom a chat talks to: a model that there is a key for. via carries the calls; nil: http.DefaultTransport.
func TalkTo(s *process.Process, o *chat.Options, via http.RoundTripper) error {
	o.Model = o.Project.Settings.Model
	switch whose := providerOf(s, o.Catalog, o.Model); {
	case whose == token.Anthropic && s.Key("ANTHROPIC_API_KEY") != "":
		return overMessages(s, o, via)
	case whose == token.OpenAI && (s.Key("OPENAI_API_KEY") != "" || s.Getenv("OPENAI_BASE_URL") != ""):
		return overCompletions(s, o, via)
	}
	return exit.Usage(ErrNoModel)
}

// providerOf returns who has a model: as the catalogue says; of one that it does not know, or that nobody names, whoever there is a key for.
func providerOf(s *process.Process, catalog *token.Catalog, model string) token.Provider {
	if m, known := catalog.Lookup(model); known {
		return m.Provider
	}
	if strings.HasPrefix(model, "claude") || s.Key("OPENAI_API_KEY") == "" && s.Getenv("OPENAI_BASE_URL") == "" {
		return token.Anthropic
	}
	if model == "" && s.Key("ANTHROPIC_API_KEY") != "" {
		return token.Anthropic
	}
	return token.OpenAI
}

// overMessages has a chat talk over the Messages API. The model that the preset names writes records, else the
// cheapest.
func overMessages(s *process.Process, o *chat.Options, via http.RoundTripper) error {
	if o.Model == "" {
		o.Model = DefaultModel
	}
	base := s.Getenv("ANTHROPIC_BASE_URL")
	client, err := anthropic.New(anthropic.Options{Base: base, Transport: via, Credential: provider.Key("x-api-key", s.Key("ANTHROPIC_API_KEY")), Catalog: o.Catalog})
	if err != nil {
		return exit.Usage(err)
	}
	o.Client = client
	o.Account = &provider.Account{Client: client, Upstream: base}
	return nil
}

// overCompletions has a chat talk over Chat Completions. The model that the preset names writes records, else the cheapest
// of OpenAI, or of a server at another address the chat's own: it may have no other.
func overCompletions(s *process.Process, o *chat.Options, via http.RoundTripper) error {
	if o.Model == "" {
		return exit.Usage(errors.New("name the model: --model ID, or model: in the settings"))
	}
	who := provider.Credential{}
	if k := s.Key("OPENAI_API_KEY"); k != "" {
		who = provider.Bearer(k)
	}
	base := s.Getenv("OPENAI_BASE_URL")
	client, err := openai.New(openai.Options{Base: base, Transport: via, Credential: who, Catalog: o.Catalog})
	if err != nil {
		return exit.Usage(err)
	}
	o.Client = client
	o.Account = &provider.Account{Client: client, Upstream: base}
	if base != "" {
		o.Account.Model = o.Model
	}
	return nil
}
