package doctor

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/modelhttp"
)

// clients checks the environment in which clients would start.
func (x *examination) clients(ctx context.Context) {
	want := "http://" + x.Config.Listen
	if x.Config.TLS.Cert != "" {
		want = "https://" + x.Config.Listen
	}
	switch base := strings.TrimSuffix(x.Env("ANTHROPIC_BASE_URL"), "/"); {
	case base == "":
		x.say(note, "clients", "ANTHROPIC_BASE_URL is not set: clients of this shell go straight to the API; export ANTHROPIC_BASE_URL=%s, or use decant run", want)
	case strings.HasSuffix(base, "/v1"):
		x.say(broken, "clients", "ANTHROPIC_BASE_URL=%s: clients append /v1 themselves; set %s", base, want)
	case base != want && base != strings.Replace(want, "127.0.0.1", "localhost", 1):
		x.say(worry, "clients", "ANTHROPIC_BASE_URL=%s is not this gateway (%s)", base, want)
	default:
		x.listening(ctx, want)
	}
	for _, name := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
		if x.Env(name) != "" {
			x.say(worry, "clients", "%s is set: Claude Code talks to that service and not to ANTHROPIC_BASE_URL", name)
		}
	}
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"} {
		if strings.HasPrefix(x.Env(name), want) && x.Config.OpenAIUpstream() == nil {
			x.say(worry, "clients", "%s leads clients of OpenAI to this gateway, where openai_upstream is off: it refuses them", name)
		}
	}
	proxy := x.Env("HTTP_PROXY") + x.Env("http_proxy")
	if except := x.Env("NO_PROXY") + x.Env("no_proxy"); proxy != "" && !strings.Contains(except, "127.0.0.1") && except != "*" {
		x.say(worry, "clients", "HTTP_PROXY is set and NO_PROXY does not hold 127.0.0.1: clients may ask the proxy for the gateway; add 127.0.0.1,localhost to NO_PROXY")
	}
}

// listening finds out whether a gateway listens where clients look for it.
func (x *examination) listening(ctx context.Context, base string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/healthz", nil)
	if err != nil {
		x.say(broken, "clients", "%v", err)
		return
	}
	here, err := modelhttp.NewOutbound(modelhttp.OutboundOptions{Allow: []*url.URL{req.URL}, CA: x.CA, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }})
	if err != nil {
		x.say(broken, "clients", "%v", err)
		return
	}
	defer here.CloseIdleConnections()
	res, err := (&http.Client{Transport: here, Timeout: 5 * time.Second}).Do(req)
	if err != nil {
		x.say(broken, "clients", "ANTHROPIC_BASE_URL names this gateway, and nothing answers there: start decant serve (%v)", errors.Unwrap(err))
		return
	}
	res.Body.Close()
	x.say(fine, "clients", "ANTHROPIC_BASE_URL names this gateway, and it answers")
}

// costs says what each client loses by a base URL that is not the provider's.
func (x *examination) costs() {
	if x.Env("ENABLE_TOOL_SEARCH") == "" && x.Env(FirstParty) == "" {
		x.say(note, "Claude Code", "with a base URL of its own it sends all MCP tools instead of searching them; ENABLE_TOOL_SEARCH=true brings the search back")
	}
	switch {
	case x.Env(FirstParty) != "":
		x.say(fine, "Claude Code", "%s is set: windows of 1M tokens and tool search as without a gateway", FirstParty)
	case x.Config.Destinations()[0].Hostname() == FirstPartyHost:
		x.say(note, "Claude Code", "with a base URL of its own it counts on 200,000 tokens where the model has 1M; %s=1 tells it that the requests reach %s (decant run sets it)", FirstParty, FirstPartyHost)
	}
	x.say(note, "Claude Code", "remote control does not work with a base URL of its own")
	x.say(note, "opencode", "reads provider.anthropic.options.baseURL from its configuration, with /v1 at the end, not ANTHROPIC_BASE_URL (decant run sets it)")
	x.say(note, "SDKs", "Go, Python and TypeScript read ANTHROPIC_BASE_URL, those of OpenAI OPENAI_BASE_URL with /v1 at the end; it costs them nothing")
}

// FirstParty tells Claude Code that its base URL leads to the provider's own API, which is true when
// the upstream is FirstPartyHost.
const (
	FirstParty     = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL"
	FirstPartyHost = "api.anthropic.com"
)
