package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/decantdev/decant/testing/testkit"
)

// asServer is the variable that makes this program a server.
const asServer = "DECANT_TEST_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(asServer) {
	case "":
		goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
	case "broken":
		fmt.Fprintln(os.Stderr, "no licence")
		os.Exit(2)
	case "talkative":
		fmt.Println("\xEF\xBB\xBFServer listening on stdio\n\n{not json\n[]")
		fallthrough
	default:
		if err := newServer().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			os.Exit(1)
		}
	}
}

// say returns a result with a text.
func say(format string, args ...any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

type handler = func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error)

// newServer returns a server with tools that behave and some that do not.
func newServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "tested", Version: "1"}, nil)
	add := func(t sdk.Tool, do handler) {
		if t.InputSchema == nil {
			t.InputSchema = json.RawMessage(`{"type":"object"}`)
		}
		s.AddTool(&t, do)
	}
	add(sdk.Tool{Name: "echo", Description: "Says it again.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
		InputSchema: json.RawMessage(`{"type":"object","required":["text"],"properties":{"text":{"type":"string","description":"what"}}}`)}, echo)
	add(sdk.Tool{Name: "a tool.with/a long name " + strings.Repeat("x", 60), Annotations: &sdk.ToolAnnotations{IdempotentHint: true}}, echo)
	add(sdk.Tool{Name: "show"}, show)
	add(sdk.Tool{Name: "sum"}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: map[string]any{"b": 2, "a": 1}}, nil
	})
	add(sdk.Tool{Name: "fail"}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := say("it does not work")
		r.IsError = true
		return r, nil
	})
	add(sdk.Tool{Name: "refuse"}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errors.New("not for you")
	})
	add(sdk.Tool{Name: "wait"}, wait)
	add(sdk.Tool{Name: "environment"}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say("%s", strings.Join(os.Environ(), "\n")), nil
	})
	add(sdk.Tool{Name: "die"}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
		return nil, nil
	})
	add(sdk.Tool{Name: "grow"}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		add(sdk.Tool{Name: "grown"}, echo)
		return say("grown"), nil
	})
	return s
}

func echo(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return say("%s", r.Params.Arguments), nil
}

// show returns content of all kinds.
func show(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{StructuredContent: map[string]any{"left": "out"}, Content: []sdk.Content{
		&sdk.TextContent{Text: "look:"}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("png")},
		&sdk.ResourceLink{URI: "file:///a.txt", Name: "a.txt", MIMEType: "text/plain", Description: "notes"},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///b.txt", Text: "content of b"}},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///c.gif", MIMEType: "image/gif", Blob: []byte("gif")}},
		&sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("wave")},
	}}, nil
}

// wait tells how far it is, and waits to be cancelled. A cancelling that does not come through must not keep the tests waiting for ever.
func wait(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	p := &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Total: 3, Message: "waiting"}
	if err := r.Session.NotifyProgress(ctx, p); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(testkit.Patience):
		return nil, errors.New("nobody has cancelled the call")
	}
}
