package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/notebook/internal/mcpserver"
	"github.com/decantdev/decant/store/sqlite"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	ready      = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	ping       = `{"jsonrpc":"2.0","id":3,"method":"ping"}`
)

// An answer is what a test reads of one.
type answer struct {
	ID    any
	Error struct {
		Code    int
		Message string
	}
	Result struct {
		IsError bool
		Content []struct{ Text string }
	}
}

// talk returns the answers of a server to an input, by their ids.
func talk(t *testing.T, input string) map[any]answer {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "decant.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := mcpserver.New(mcpserver.Options{Scope: scope, Open: func(context.Context) (mcpserver.Store, string, error) { return db, "", nil }})
	var out bytes.Buffer
	if err := s.Run(t.Context(), mcpserver.Stdio(strings.NewReader(input), &out)); err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("the server ended: %v\n%s", err, &out)
	}
	got := map[any]answer{}
	for line := range strings.Lines(out.String()) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		got[a.ID] = a
	}
	return got
}

// Whatever a line is, the requests before and behind it are answered.
func TestALineThatIsNotAMessage(t *testing.T) {
	for name, test := range map[string]struct {
		line string
		id   any
		code int
	}{
		"broken JSON":        {`{bad json`, nil, -32700},
		"words":              {`Listening on stdio`, nil, -32700},
		"two on one line":    {ping + ping, nil, -32700},
		"cut off":            {`{"jsonrpc":"2.0","id":7,"method":"to`, nil, -32700},
		"a number":           {`17`, nil, -32600},
		"a list":             {`[` + strings.ReplaceAll(ping, "3", "7") + `]`, nil, -32600},
		"an empty list":      {`[]`, nil, -32600},
		"no version":         {`{"id":7,"method":"ping"}`, 7.0, -32600},
		"an old version":     {`{"jsonrpc":"1.0","id":"a","method":"ping"}`, "a", -32600},
		"an id of a list":    {`{"jsonrpc":"2.0","id":[7],"method":"ping"}`, nil, -32600},
		"an id of an object": {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, -32600},
		"a method of 5":      {`{"jsonrpc":"2.0","id":7,"method":5}`, 7.0, -32600},
		"nothing":            {`{"jsonrpc":"2.0"}`, nil, -32600},
		"too long":           {`{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("x", 17<<20) + `"}`, nil, -32700},
	} {
		t.Run(name, func(t *testing.T) {
			got := talk(t, strings.Join([]string{initialize, ready, test.line, ping}, "\n")+"\n")
			if _, ok := got[1.0]; !ok {
				t.Error("initialize is not answered")
			}
			if a, ok := got[3.0]; !ok || a.Error.Code != 0 {
				t.Errorf("the request behind the line: %+v", a)
			}
			if a := got[test.id]; a.Error.Code != test.code || a.Error.Message == "" {
				t.Errorf("the line got %+v, want code %d", a, test.code)
			}
		})
	}
}

// What programs do to lines that are messages changes nothing.
func TestLinesAsProgramsWriteThem(t *testing.T) {
	for name, input := range map[string]string{
		"plain":                   initialize + "\n" + ready + "\n" + ping + "\n",
		"without the last end":    initialize + "\n" + ready + "\n" + ping,
		"with a byte order mark":  "\xEF\xBB\xBF" + initialize + "\n" + ready + "\n" + ping + "\n",
		"line ends of Windows":    initialize + "\r\n" + ready + "\r\n" + ping + "\r\n",
		"empty lines and blanks":  "\n  " + initialize + "\n\n" + ready + " \n\t\n" + ping + "  \n\n",
		"a last line of a piece":  initialize + "\n" + ready + "\n" + ping + "\n" + `{"jsonrpc`,
		"a response of nobody":    initialize + "\n" + ready + "\n" + `{"jsonrpc":"2.0","id":"x","result":{}}` + "\n" + ping + "\n",
		"an unknown notification": initialize + "\n" + ready + "\n" + `{"jsonrpc":"2.0","method":"notifications/none"}` + "\n" + ping + "\n",
	} {
		got := talk(t, input)
		for _, id := range []any{1.0, 3.0} {
			if a, ok := got[id]; !ok || a.Error.Code != 0 {
				t.Errorf("%s: answer %v is %+v", name, id, a)
			}
		}
	}
}

// Models put numbers in quotes and write null for what they leave out.
func TestArgumentsAsModelsWriteThem(t *testing.T) {
	for arguments, bad := range map[string]bool{
		`{"query":"port","limit":3}`:                        false,
		`{"query":"port","limit":"3","offset":" 1 "}`:       false,
		`{"query":"port","limit":null,"conversation":null}`: false,
		`{"query":"port","limit":"three"}`:                  true,
		`{"query":"12","conversation":"34"}`:                false,
		`{"query":5}`:                                       true,
		`{"limit":"3"}`:                                     true,
		`["port"]`:                                          true,
	} {
		call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recall","arguments":` + arguments + `}}`
		got := talk(t, strings.Join([]string{initialize, ready, call, ping}, "\n")+"\n")
		if a := got[2.0]; (a.Error.Code != 0 || a.Result.IsError) != bad {
			t.Errorf("%s: %+v", arguments, a)
		}
		if _, ok := got[3.0]; !ok {
			t.Errorf("%s: the next request is not answered", arguments)
		}
	}
}
