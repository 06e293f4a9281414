package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/wire"
)

// logs are the samples of formats that are read and not written.
var logs = map[string]wire.Format{
	"copilot.jsonl.gz": wire.Copilot, "copilot-small.jsonl": wire.Copilot, "gemini.json": wire.Gemini, "gemini-lines.txtar": wire.Gemini,
	"opencode.txtar": wire.Opencode,
}

func logOf(tb testing.TB, name string) []byte {
	tb.Helper()
	path := filepath.Join("testdata/logs", name)
	if filepath.Ext(name) != ".txtar" {
		return readFile(tb, path)
	}
	a, err := txtar.ParseFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return a.Files[0].Data
}

// Logs of other agents are told by their content and read; what is not changed is the same slice,
// and nothing else can be written.
func TestLogsAreReadAndNotWritten(t *testing.T) {
	for name, want := range logs {
		t.Run(name, func(t *testing.T) {
			src := logOf(t, name)
			d := parse(t, src)
			if d.Format != want || want.Writable() || !want.Session() {
				t.Fatalf("read as %s, want %s", d.Format, want)
			}
			out, err := d.Render(d.Conversation)
			if err != nil || &out[0] != &d.Source[0] {
				t.Errorf("an unchanged view is not the source: %v", err)
			}
			view := d.Conversation.With(d.Conversation.Messages[1:])
			if _, err := d.Render(view); err == nil || !strings.Contains(err.Error(), "read and not written") {
				t.Errorf("a view is written: %v", err)
			}
			for _, f := range []wire.Format{wire.Anthropic, wire.OpenAIChat, wire.OpenAIResponses} {
				if _, err := wire.Encode(d.Conversation, f); err != nil {
					t.Errorf("as %s: %v", f, err)
				}
			}
		})
	}
}

// The samples' messages, one line each: what is a call, a result, thinking, whose words, in which order.
func TestLogsGolden(t *testing.T) {
	for name := range logs {
		t.Run(name, func(t *testing.T) {
			got := digestOf(parse(t, logOf(t, name)))
			stem, _, _ := strings.Cut(name, ".")
			path := filepath.Join("testdata/logs", stem+".txtar")
			a, err := txtar.ParseFile(path)
			if errors.Is(err, os.ErrNotExist) {
				a = &txtar.Archive{Comment: []byte("What is read of " + name + ".\n"), Files: []txtar.File{{Name: "want"}}}
			} else if err != nil {
				t.Fatal(err)
			}
			last := &a.Files[len(a.Files)-1]
			if *update {
				last.Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(string(last.Data), got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// digestOf writes a conversation down, a line for each block.
func digestOf(d *wire.Document) string {
	var b strings.Builder
	c := d.Conversation
	fmt.Fprintf(&b, "%s %s, model %s, api %s, system %d, tools %d\n", d.Format, c.ID, c.Model, d.API(), len(c.Fixed.System), len(c.Fixed.Tools))
	for _, w := range d.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		fmt.Fprintf(&b, "m%d %s", m.Number, m.Role)
		if !m.Time.IsZero() {
			fmt.Fprintf(&b, " %s", m.Time.UTC().Format(time.TimeOnly))
		}
		if u := m.Usage; u != nil {
			fmt.Fprintf(&b, " usage %d+%d+%d>%d", u.Input, u.CacheRead, u.CacheWrite, u.Output)
		}
		if m.Compaction {
			b.WriteString(" compaction")
		}
		b.WriteByte('\n')
		for k := range m.Blocks {
			b.WriteString(line(&m.Blocks[k]))
		}
	}
	return b.String()
}

func line(b *decant.Block) string {
	text := strings.Join(strings.Fields(b.Text()), " ")
	if len(text) > 60 {
		text = strings.ToValidUTF8(text[:60], "") + "..."
	}
	failed := ""
	if b.Error {
		failed = " failed"
	}
	if b.Media.Count > 0 {
		text += "(" + b.Media.Type + ")"
	}
	return strings.TrimRight(fmt.Sprintf("  %s %s %s %s%s: %s", b.Kind, b.Author, b.Name, b.CallID, failed, text), " ") + "\n"
}

// A bare list of messages is one of the Messages API or of Chat Completions by what is in it, and it is
// written again as a list.
func TestBareListOfMessages(t *testing.T) {
	for _, c := range []struct {
		src string
		api wire.Format
	}{
		{`[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]`, wire.OpenAIChat},
		{`[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]`, wire.OpenAIChat},
		{`[{"role":"user","content":"ls"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"sh","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"}]`, wire.OpenAIChat},
		{`[{"role":"user","content":"ls"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"sh","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}]`, wire.Anthropic},
		{"\xef\xbb\xbf\n" + `[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]`, wire.Anthropic},
	} {
		d := parse(t, []byte(c.src))
		if d.Format != wire.Messages || d.API() != c.api {
			t.Errorf("%s: %s of %s, want messages of %s", c.src, d.Format, d.API(), c.api)
			continue
		}
		first := d.Conversation.Messages[:1]
		out, err := d.Render(d.Conversation.With(first))
		if err != nil || !bytes.HasPrefix(bytes.TrimSpace(out), []byte("[")) {
			t.Errorf("%s: written as %s, %v", c.src, out, err)
			continue
		}
		if again := parse(t, out); len(again.Conversation.Messages) != 1 || again.Conversation.Messages[0].Text() != first[0].Text() {
			t.Errorf("%s: reads back as %s", c.src, out)
		}
	}
	for _, src := range []string{`[1,2]`, `[]`, `[{"a":1}]`, `[[{"role":"user","content":"x"}]]`} {
		if d, err := wire.Parse([]byte(src)); !errors.Is(err, wire.ErrFormat) {
			t.Errorf("%s is read as %v", src, d)
		}
	}
}

// What is cut off is said to be, and a byte order mark is no part of what is read.
func TestInputThatIsCutOff(t *testing.T) {
	const whole = `{"model":"gpt-5.5","messages":[{"role":"user","content":"hi there"}]}`
	for n := len(`{"model":"gpt-5.5","messages":[{"role":"user"`); n < len(whole); n++ {
		_, err := wire.Parse([]byte(whole[:n]))
		if want := fmt.Sprintf("cut off after %d bytes", n); err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, wire.ErrFormat) {
			t.Errorf("%s: %v, want %q", whole[:n], err, want)
		}
	}
	for name, src := range sessions(t) {
		d := parse(t, append([]byte("\xef\xbb\xbf"), src...))
		if want := parse(t, src); d.Format != want.Format || len(d.Conversation.Messages) != len(want.Conversation.Messages) {
			t.Errorf("%s with a byte order mark: %d messages of %s", name, len(d.Conversation.Messages), d.Format)
		}
	}
	for name := range logs {
		src := logOf(t, name)
		d := parse(t, append([]byte("\xef\xbb\xbf"), src...))
		if want := parse(t, src); d.Format != want.Format || len(d.Conversation.Messages) != len(want.Conversation.Messages) {
			t.Errorf("%s with a byte order mark: %d messages of %s", name, len(d.Conversation.Messages), d.Format)
		}
	}
	if d := parse(t, []byte("\xef\xbb\xbf"+whole)); string(d.Source) != whole {
		t.Errorf("source %q", d.Source)
	}
}

// Whatever a log holds, reading it does not panic, and what is read can be looked at.
func FuzzLogs(f *testing.F) {
	formats := []wire.Format{wire.Messages, wire.Copilot, wire.Gemini, wire.Opencode}
	for name, format := range logs {
		if src := logOf(f, name); len(src) < 20_000 {
			for i := range formats {
				if formats[i] == format {
					f.Add(i, src)
				}
			}
		}
	}
	f.Add(0, []byte(`[{"role":"user","content":"hi"}]`))
	f.Fuzz(func(t *testing.T, i int, src []byte) {
		d, err := wire.ParseAs(formats[max(0, i)%len(formats)], src)
		if err != nil {
			return
		}
		digestOf(d)
		if out, err := d.Render(d.Conversation); err != nil || len(out) != len(d.Source) {
			t.Errorf("an unchanged view is not the source: %v", err)
		}
	})
}
