package token_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// dataEnv names a folder with the full measuring set: tokens/*.jsonl.gz and claude-code/*/*.jsonl.gz.
// Without it the small samples in testdata are used.
const dataEnv = "DECANT_DATA"

// step is a tool step whose real cost is known: what the prompt grew by.
type step struct {
	Source string `json:"source"`
	Model  string `json:"model"`
	Calls  int    `json:"calls"`
	Real   int    `json:"real_tokens"`
	O200k  int    `json:"o200k"`
	Text   string `json:"text"`
}

// sample is a text of one class of content.
type sample struct {
	Class   string `json:"cls"`
	Text    string `json:"text"`
	O200k   int    `json:"o200k"`
	Claude2 int    `json:"claude2"`
}

func dataFile(full, reduced string) string {
	if dir := os.Getenv(dataEnv); dir != "" {
		return filepath.Join(dir, full)
	}
	return filepath.Join("testdata", reduced)
}

func sessionFiles(tb testing.TB) []string {
	dir := os.Getenv(dataEnv)
	if dir == "" {
		return []string{"testdata/session.jsonl.gz"}
	}
	files, err := filepath.Glob(filepath.Join(dir, "claude-code", "*", "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no sessions in %s: %v", dir, err)
	}
	return files
}

func readLines(tb testing.TB, path string) [][]byte {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	src, err := io.ReadAll(bufio.NewReader(z))
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(src), []byte("\n"))
}

func readAll[T any](tb testing.TB, path string) (out []T) {
	tb.Helper()
	for i, line := range readLines(tb, path) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			tb.Fatalf("%s:%d: %v", path, i+1, err)
		}
		out = append(out, v)
	}
	return out
}

func steps(tb testing.TB) []step {
	return readAll[step](tb, dataFile("tokens/steps.jsonl.gz", "steps.jsonl.gz"))
}

func samples(tb testing.TB) []sample {
	return readAll[sample](tb, dataFile("tokens/classes.jsonl.gz", "classes.jsonl.gz"))
}

// entry is one line of a Claude Code session, as far as counting needs it.
type entry struct {
	Type      string `json:"type"`
	Sidechain bool   `json:"isSidechain"`
	Summary   bool   `json:"isCompactSummary"`
	Message   struct {
		ID      string         `json:"id"`
		Content jsontext.Value `json:"content"`
		Usage   *struct {
			Input  int `json:"input_tokens"`
			Write  int `json:"cache_creation_input_tokens"`
			Read   int `json:"cache_read_input_tokens"`
			Output int `json:"output_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

type part struct {
	Type     string         `json:"type"`
	Text     string         `json:"text"`
	Thinking string         `json:"thinking"`
	Name     string         `json:"name"`
	Input    jsontext.Value `json:"input"`
	Content  jsontext.Value `json:"content"`
}

// readSession reads a session into messages, without what the package wire is for.
func readSession(tb testing.TB, path string) (c decant.Conversation) {
	tb.Helper()
	at := map[string]int{}
	for _, line := range readLines(tb, path) {
		var e entry
		if json.Unmarshal(line, &e) != nil || e.Sidechain || (e.Type != "user" && e.Type != "assistant") {
			continue
		}
		blocks := readParts(tb, e.Message.Content)
		i, seen := at[e.Message.ID]
		if !seen || e.Message.ID == "" {
			i = len(c.Messages)
			at[e.Message.ID] = i
			c.Messages = append(c.Messages, decant.Message{Number: i + 1, Role: decant.Role(e.Type), Compaction: e.Summary})
		}
		m := &c.Messages[i]
		m.Blocks = append(m.Blocks, blocks...)
		if u := e.Message.Usage; u != nil {
			m.Usage = &decant.Usage{Input: u.Input, CacheRead: u.Read, CacheWrite: u.Write, Output: u.Output}
		}
	}
	return c
}

func readParts(tb testing.TB, v jsontext.Value) (out []decant.Block) {
	tb.Helper()
	if v.Kind() == '"' {
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			tb.Fatal(err)
		}
		return []decant.Block{{Kind: decant.KindText, Content: decant.Text(s)}}
	}
	var parts []part
	if v.Kind() == '[' {
		if err := json.Unmarshal(v, &parts); err != nil {
			tb.Fatal(err)
		}
	}
	for _, p := range parts {
		out = append(out, readPart(tb, p)...)
	}
	return out
}

func readPart(tb testing.TB, p part) []decant.Block {
	switch p.Type {
	case "text":
		return []decant.Block{{Kind: decant.KindText, Content: decant.Text(p.Text)}}
	case "thinking":
		return []decant.Block{{Kind: decant.KindThinking, Content: decant.Text(p.Thinking)}}
	case "tool_use":
		return []decant.Block{{Kind: decant.KindUse, Name: p.Name, Content: decant.Text(p.Input)}}
	case "image":
		return []decant.Block{{Kind: decant.KindImage, Media: decant.Media{Type: "image/png", Count: 1}}}
	case "tool_result":
		b := decant.Block{Kind: decant.KindResult}
		var text []byte
		for _, inner := range readParts(tb, p.Content) {
			text = append(text, inner.Text()...)
			b.Media.Count += inner.Media.Count
		}
		b.Content = decant.Text(text)
		return []decant.Block{b}
	}
	return nil
}

func model(tb testing.TB, id string) token.Model {
	tb.Helper()
	c, err := token.Builtin()
	if err != nil {
		tb.Fatal(err)
	}
	m, _ := c.Lookup(id)
	return m
}

// errs collects relative errors.
type errs []float64

func (e *errs) add(got, want int) { *e = append(*e, math.Abs(float64(got)/float64(want)-1)) }

func (e errs) mean() (m float64) {
	for _, x := range e {
		m += x / float64(len(e))
	}
	return m
}

func (e errs) quantile(q float64) float64 {
	s := slices.Sorted(slices.Values(e))
	return s[min(len(s)-1, int(q*float64(len(s))))]
}
