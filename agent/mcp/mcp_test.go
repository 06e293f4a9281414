package mcp_test

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/mcp"
	"github.com/decantdev/decant/testing/agenttest"
	"github.com/decantdev/decant/testing/testkit"
)

// process is a server in a process of its own.
func process(t *testing.T, name, as string) mcp.Server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcp.Server{Name: name, Command: program, Env: map[string]string{asServer: as}}
}

// open opens servers for the time of a test.
func open(t *testing.T, servers ...mcp.Server) *mcp.Set {
	t.Helper()
	s := mcp.Open(t.Context(), servers, mcp.Options{})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

// tools returns the tools of a set by their names.
func tools(t *testing.T, s *mcp.Set) map[string]agent.Tool {
	t.Helper()
	list, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]agent.Tool{}
	for _, tool := range list {
		out[tool.Name] = tool
	}
	return out
}

// call calls a tool.
func call(t *testing.T, s *mcp.Set, name, arguments string) (agent.Result, error) {
	t.Helper()
	tool, ok := tools(t, s)[name]
	if !ok {
		t.Fatalf("there is no tool %s", name)
	}
	return tool.Run(t.Context(), &agent.Call{Tool: name, Arguments: stdjson.RawMessage(arguments)})
}

// overHTTP serves a server over HTTP, as streams or in the older way, to who has the header, for the time of a test.
func overHTTP(t *testing.T, kind string, s *sdk.Server) mcp.Server {
	t.Helper()
	which := func(*http.Request) *sdk.Server { return s }
	var h http.Handler = sdk.NewStreamableHTTPHandler(which, nil)
	if kind == "sse" {
		h = sdk.NewSSEHandler(which, nil)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer let-me-in" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return mcp.Server{Name: "web", Type: kind, URL: srv.URL, Headers: map[string]string{"Authorization": "Bearer let-me-in"}}
}

// The tools of a server have names that the API takes, in one order, and say who must be asked.
func TestTools(t *testing.T) {
	s := open(t, process(t, "my server", "1"))
	list, err := s.Tools(t.Context())
	if err != nil || !slices.IsSortedFunc(list, func(a, b agent.Tool) int { return strings.Compare(a.Name, b.Name) }) {
		t.Fatalf("%v, %v", list, err)
	}
	all := tools(t, s)
	echo := all["mcp__my_server__echo"]
	if !echo.ReadOnly || echo.Ask || echo.Description != "Says it again." ||
		string(echo.Schema) != `{"properties":{"text":{"description":"what","type":"string"}},"required":["text"],"type":"object"}` {
		t.Errorf("echo: %+v, schema %s", echo, echo.Schema)
	}
	if sum := all["mcp__my_server__sum"]; sum.ReadOnly || !sum.Ask || sum.Idempotent {
		t.Errorf("sum: %+v", sum)
	}
	long := ""
	for name, tool := range all {
		if strings.HasPrefix(name, "mcp__my_server__a_tool_with_a_long_name_x") {
			long = name
			if !tool.Idempotent || !tool.Ask {
				t.Errorf("%s: %+v", name, tool)
			}
		}
	}
	if len(long) != 64 {
		t.Errorf("the long name is %q", long)
	}
	if _, err := agent.New(agenttest.New(t), agent.Options{Model: "claude-sonnet-4-5", Engine: agenttest.Engine(t), Tools: list}); err != nil {
		t.Errorf("an agent does not take them: %v", err)
	}
}

// Servers print what is no message, above all when they start.
func TestAServerThatPrintsOtherLines(t *testing.T) {
	s := open(t, process(t, "s", "talkative"))
	if r, err := call(t, s, "mcp__s__echo", `{"text":"hello"}`); err != nil || r.Text != `{"text":"hello"}` {
		t.Errorf("got %+v, %v", r, err)
	}
}

// What a server answers is shown to the model, over each of the ways.
func TestResults(t *testing.T) {
	for name, server := range map[string]mcp.Server{
		"stdio": process(t, "web", "1"), "http": overHTTP(t, "http", newServer()), "sse": overHTTP(t, "sse", newServer()),
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, server)
			r, err := call(t, s, "mcp__web__show", `{}`)
			want := "look:\n[resource a.txt: file:///a.txt (text/plain, notes)]\n[resource file:///b.txt]\ncontent of b\n[audio, audio/wav, 4 bytes: it cannot be shown]"
			if err != nil || r.Text != want || len(r.Images) != 2 || string(r.Images[0].Data) != "png" || r.Images[1].MediaType != "image/gif" {
				t.Errorf("show: %+v, %v", r, err)
			}
			if r, err = call(t, s, "mcp__web__sum", `{}`); err != nil || r.Text != `{"a":1,"b":2}` {
				t.Errorf("sum: %+v, %v", r, err)
			}
			if r, err = call(t, s, "mcp__web__fail", `{}`); err != nil || !r.Error || r.Text != "it does not work" {
				t.Errorf("fail: %+v, %v", r, err)
			}
			if r, err = call(t, s, "mcp__web__refuse", `{}`); (err == nil || !strings.Contains(err.Error(), "not for you")) && !r.Error {
				t.Errorf("refuse: %+v, %v", r, err)
			}
			if r, err = call(t, s, "mcp__web__echo", `{"text":"héllo","n":12345678901234567}`); err != nil || r.Text != `{"text":"héllo","n":12345678901234567}` {
				t.Errorf("echo: %+v, %v", r, err)
			}
			if r, err = call(t, s, "mcp__web__echo", ``); err != nil || r.Text != `{}` {
				t.Errorf("echo of nothing: %+v, %v", r, err)
			}
		})
	}
}

// A call tells how far it is, and ends when it is cancelled.
func TestProgressAndCancelling(t *testing.T) {
	for name, server := range map[string]mcp.Server{"stdio": process(t, "web", "1"), "http": overHTTP(t, "http", newServer())} {
		t.Run(name, func(t *testing.T) {
			s := open(t, server)
			ctx, cancel := context.WithCancel(t.Context())
			var told atomic.Value
			tool := tools(t, s)["mcp__web__wait"]
			_, err := tool.Run(ctx, &agent.Call{Arguments: stdjson.RawMessage(`{}`), Progress: func(text string) { told.Store(text); cancel() }})
			if !errors.Is(err, context.Canceled) || told.Load() != "waiting (1 of 3)" {
				t.Errorf("told %v, error %v", told.Load(), err)
			}
			if r, err := call(t, s, "mcp__web__echo", `{"text":"still here"}`); err != nil || !strings.Contains(r.Text, "still here") {
				t.Errorf("afterwards: %+v, %v", r, err)
			}
		})
	}
}

// A server over HTTP knows that a call was given up before the connection is closed, also when it is closed at once.
func TestGivenUpAndClosedAtOnce(t *testing.T) {
	for _, kind := range []string{"http", "sse"} {
		t.Run(kind, func(t *testing.T) {
			given := make(chan error, 1)
			server := newServer()
			server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
				return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
					out, err := next(ctx, method, r)
					if method == "tools/call" {
						given <- ctx.Err()
					}
					return out, err
				}
			})
			s := open(t, overHTTP(t, kind, server))
			ctx, cancel := context.WithCancel(t.Context())
			tool := tools(t, s)["mcp__web__wait"]
			if _, err := tool.Run(ctx, &agent.Call{Arguments: stdjson.RawMessage(`{}`), Progress: func(string) { cancel() }}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := <-given; !errors.Is(err, context.Canceled) {
				t.Errorf("the server's call ended with %v", err)
			}
		})
	}
}

// A server that ends makes the call fail that it ends in, and is started again once.
func TestAServerThatEnds(t *testing.T) {
	s := open(t, process(t, "web", "1"))
	for range 2 {
		if r, err := call(t, s, "mcp__web__echo", `{"text":"here"}`); err != nil || !strings.Contains(r.Text, "here") {
			t.Fatalf("echo: %+v, %v", r, err)
		}
		_, err := call(t, s, "mcp__web__die", `{}`)
		if err == nil || !strings.Contains(err.Error(), "what the call has done is not known") || !strings.Contains(err.Error(), "out of memory") {
			t.Fatalf("die: %v", err)
		}
	}
	if _, err := call(t, s, "mcp__web__echo", `{"text":"here"}`); err == nil || !strings.Contains(err.Error(), "ended twice") {
		t.Errorf("after the second end: %v", err)
	}
}

// A server gets nothing of the environment that it does not need.
func TestAServerDoesNotGetTheKeys(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-of-the-user")
	r, err := call(t, open(t, process(t, "web", "1")), "mcp__web__environment", `{}`)
	if err != nil || strings.Contains(r.Text, "sk-of-the-user") || !strings.Contains(r.Text, "PATH=") || !strings.Contains(r.Text, asServer+"=1") {
		t.Errorf("%+v, %v", r, err)
	}
}

// A change of the list is seen by who asks for it again, and by nobody else.
func TestTheListChanges(t *testing.T) {
	s := open(t, process(t, "web", "1"))
	before := tools(t, s)
	if s.Changed() {
		t.Error("it has changed already")
	}
	if _, err := call(t, s, "mcp__web__grow", `{}`); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the list has changed", s.Changed) // it is told of beside the answer
	if after := tools(t, s); len(after) != len(before)+1 || s.Changed() {
		t.Errorf("%d tools, and %d before", len(after), len(before))
	}
}

// Servers that cannot be started are named, and the others are there. Two tools with one name are refused.
func TestServersThatCannotBeUsed(t *testing.T) {
	bad := overHTTP(t, "http", newServer())
	bad.Headers, bad.Name = nil, "locked"
	s := mcp.Open(t.Context(), []mcp.Server{
		process(t, "good", "1"), process(t, "broken", "broken"), {Name: "none", Command: "/there/is/no/such/program"}, bad, {Name: "odd", Type: "pigeon"},
	}, mcp.Options{StartWithin: testkit.Patience})
	defer s.Close()
	for _, want := range []string{"MCP server broken: it cannot be started", "no licence", "MCP server none:", "MCP server locked:", `MCP server odd: type: "pigeon"`} {
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if list := tools(t, s); len(list) == 0 {
		t.Error("the good server has no tools")
	}
	if _, err := open(t, process(t, "a b", "1"), process(t, "a_b", "1")).Tools(t.Context()); err == nil || !strings.Contains(err.Error(), "have the name mcp__a_b__") {
		t.Errorf("two tools with one name: %v", err)
	}
}

// An agent uses a tool of a server.
func TestAnAgentUsesAServer(t *testing.T) {
	list, err := open(t, process(t, "web", "1")).Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	model := agenttest.New(t,
		agenttest.Turn{Calls: []agenttest.Call{{Tool: "mcp__web__echo", Arguments: `{"text":"hello"}`}}},
		agenttest.Turn{Want: `result of mcp__web__echo: {"text":"hello"}`, Text: "It says hello."},
	)
	a, err := agent.New(model, agent.Options{Model: "claude-sonnet-4-5", Engine: agenttest.Engine(t), Tools: list})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range a.Run(t.Context(), "Say hello.") {
		if err != nil {
			t.Fatal(err)
		}
		if e.Outcome != nil && e.Outcome.Text != "It says hello." {
			t.Errorf("outcome %+v", e.Outcome)
		}
	}
}
