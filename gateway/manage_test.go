package gateway_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/internal/policy"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// work lets the official client work on a task: each call of a tool gets lines of output, 6 KB.
func work(t *testing.T, c anthropic.Client, stream bool, calls int) {
	t.Helper()
	p := anthropic.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 8000,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Do the work."))},
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: "Bash", InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{"command": map[string]any{"type": "string"}}},
		}}},
	}
	for n := range calls {
		m := ask(t, c, p, stream)
		p.Messages = append(p.Messages, m.ToParam())
		var results []anthropic.ContentBlockParamUnion
		for _, b := range m.Content {
			if use, ok := b.AsAny().(anthropic.ToolUseBlock); ok {
				results = append(results, anthropic.NewToolResultBlock(use.ID, output(n), false))
			}
		}
		if len(results) == 0 {
			results = append(results, anthropic.NewTextBlock("Go on."))
		}
		p.Messages = append(p.Messages, anthropic.NewUserMessage(results...))
	}
}

func output(n int) string {
	var s strings.Builder
	for i := 0; s.Len() < 6<<10; i++ {
		fmt.Fprintf(&s, "step %d line %d value_%d_%d = compute(alpha, beta_%d)\n", n, i, n, i, i)
	}
	return s.String()
}

func ask(t *testing.T, c anthropic.Client, p anthropic.MessageNewParams, stream bool) *anthropic.Message {
	t.Helper()
	if !stream {
		m, err := c.Messages.New(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	var m anthropic.Message
	s := c.Messages.NewStreaming(t.Context(), p)
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return &m
}

func TestOfficialClientWorksPastTheWindow(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("Stream=%t", stream), func(t *testing.T) {
			window := testkit.Depth(22_000, 40_000)
			up := strict(sandbox.Options{Window: window, Model: &sandbox.Rules{Calls: 1000}})
			w := newWorld(t, up, gateway.Options{}, engine.Options{Window: window, NoEarlyPours: true})
			work(t, w.sdk(), stream, testkit.Depth(24, 40))
			for _, e := range up.Log.Refused() {
				t.Errorf("request %d refused: %s", e.Number, e.Error)
			}
			pours, last := 0, 0
			for _, e := range up.Log.Entries() {
				if e.Prompt < last*9/10 {
					pours++
				}
				last = e.Prompt
			}
			if pours < 3 {
				t.Errorf("%d pours, want at least three", pours)
			}
			if _, text := get(t, w, "/metrics"); !strings.Contains(text, "decant_pours_total{reason=\"necessary\"} ") {
				t.Errorf("no pours in the metrics:\n%s", text)
			}
		})
	}
}

// What is left out has one definition: metric, log and store agree on it, however often a checkpoint was
// superseded.
func TestTokensLeftOutAreOneFigure(t *testing.T) {
	const window = 24_000
	up := strict(sandbox.Options{Window: window, Model: &sandbox.Rules{Calls: 1000}})
	w := newWorld(t, up, gateway.Options{}, engine.Options{Window: window})
	work(t, w.sdk(), false, testkit.Depth(26, 50))
	_, metrics := get(t, w, "/metrics")
	w.engine.Close()
	cs, err := w.store.Conversations(t.Context(), store.Filter{})
	if err != nil || len(cs) != 1 {
		t.Fatalf("%d conversations: %v", len(cs), err)
	}
	s, err := w.store.Load(t.Context(), cs[0].Key, store.Newest)
	if err != nil {
		t.Fatal(err)
	}
	lacks := policy.LeftOut(s.Live())
	if len(s.Checkpoints()) < 2 || lacks < window || lacks > cs[0].Tokens {
		t.Errorf("%d checkpoints, %d tokens are left out of %d", len(s.Checkpoints()), lacks, cs[0].Tokens)
	}
	var metric float64
	for line := range strings.Lines(metrics) {
		if rest, ok := strings.CutPrefix(line, "decant_tokens_saved_total "); ok {
			fmt.Sscan(rest, &metric)
		}
	}
	logged, last := 0, 0
	for line := range strings.Lines(w.logged()) {
		if _, rest, ok := strings.Cut(line, " left_out="); ok {
			var freed int
			if _, err := fmt.Sscanf(rest, "%d freed=%d", &last, &freed); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			logged += freed
		}
	}
	if int(metric) != lacks || logged != lacks || last != lacks {
		t.Errorf("%d tokens are left out by the store, %.0f by the metric, %d by the log, whose requests add up to %d", lacks, metric, last, logged)
	}
}

func TestCountTokensCountsTheViewAndCommitsNothing(t *testing.T) {
	const window = 40_000
	up := strict(sandbox.Options{Window: window})
	w := newWorld(t, up, gateway.Options{}, engine.Options{Window: window})
	c := w.sdk()
	long := anthropic.MessageCountTokensParams{Model: "claude-sonnet-4-5"}
	for n := range 40 {
		long.Messages = append(long.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(fmt.Sprintf("Question %d. %s", n, output(n)[:3000]))),
			anthropic.NewAssistantMessage(anthropic.NewTextBlock(fmt.Sprintf("Answer %d.", n))))
	}
	long.Messages = append(long.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock("And now?")))
	direct := anthropic.NewClient(option.WithBaseURL(w.up), option.WithAPIKey("k"), option.WithHTTPClient(w.client))
	all, err := direct.Messages.CountTokens(t.Context(), long)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		view, err := c.Messages.CountTokens(t.Context(), long)
		if err != nil {
			t.Fatal(err)
		}
		if all.InputTokens < window || view.InputTokens > window*3/4 {
			t.Errorf("%d tokens in all, %d counted: want an imminent pour to count as done", all.InputTokens, view.InputTokens)
		}
	}
	w.engine.Close()
	cs, err := w.store.Conversations(t.Context(), store.Filter{})
	if err != nil || len(cs) != 0 {
		t.Errorf("%d conversations are stored, want none: %v", len(cs), err)
	}
}

func TestCompressedBodiesAreUnderstood(t *testing.T) {
	var zipped bytes.Buffer
	gz := gzip.NewWriter(&zipped)
	io.WriteString(gz, hello)
	gz.Close()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	up := strict(sandbox.Options{})
	w := newWorld(t, up, gateway.Options{}, engine.Options{})
	for encoding, body := range map[string]string{"gzip": zipped.String(), "zstd": string(enc.EncodeAll([]byte(hello), nil))} {
		res, text := w.post(w.url, "/v1/messages", body, "Content-Encoding", encoding, "X-Decant-Session", encoding)
		e := up.Log.Last()
		if res.StatusCode != 200 || string(e.Body) != hello || e.Header.Get("Content-Encoding") != encoding {
			t.Errorf("%s: status %d, encoding %q, %s", encoding, res.StatusCode, e.Header.Get("Content-Encoding"), text)
		}
	}
	w.engine.Close()
	cs, err := w.store.Conversations(t.Context(), store.Filter{})
	if err != nil || len(cs) != 2 {
		t.Errorf("%d conversations, want two: %v", len(cs), err)
	}
	want := outcomeOf(w.try(w.up, "/v1/messages", "\x01\x02", "Content-Encoding", "br"))
	got := outcomeOf(w.try(w.url, "/v1/messages", "\x01\x02", "Content-Encoding", "br"))
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("an encoding that is not known (-direct +through):\n%s", d)
	}
}

// An edited body leaves without the compression that it came in.
func TestCompressedBodyThatIsEdited(t *testing.T) {
	const window = 30_000
	up := strict(sandbox.Options{Window: window})
	w := newWorld(t, up, gateway.Options{}, engine.Options{Window: window})
	var ms []string
	for n := range 20 {
		ms = append(ms, fmt.Sprintf(`{"role":"user","content":"Question %d. %s"},{"role":"assistant","content":"Answer %d."}`, n, strings.Repeat("plain words of a long question ", 150), n))
	}
	body := `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[` + strings.Join(ms, ",") + `,{"role":"user","content":"And now?"}]}`
	var zipped bytes.Buffer
	gz := gzip.NewWriter(&zipped)
	io.WriteString(gz, body)
	gz.Close()
	res, text := w.post(w.url, "/v1/messages", zipped.String(), "Content-Encoding", "gzip")
	e := up.Log.Last()
	if res.StatusCode != 200 || e.Header.Get("Content-Encoding") != "" || len(e.Body) >= len(body) {
		t.Errorf("status %d, encoding %q, %d of %d bytes: %s", res.StatusCode, e.Header.Get("Content-Encoding"), len(e.Body), len(body), text)
	}
}

func TestModesAndPresets(t *testing.T) {
	const window = 30_000
	file := filepath.Join(t.TempDir(), "mine.yaml")
	mine, err := preset.Parse(file, []byte("name: mine\ntrigger: {tokens: 2000}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var ms []string
	for n := range 6 {
		ms = append(ms, fmt.Sprintf(`{"role":"user","content":"Question %d. %s"},{"role":"assistant","content":"Answer %d."}`, n, strings.Repeat("plain words of a long question ", 100), n))
	}
	body := func(model string) string {
		return `{"model":"` + model + `","max_tokens":100,"messages":[` + strings.Join(ms, ",") + `,{"role":"user","content":"And now?"}]}`
	}
	const plain, small = "claude-sonnet-4-5", "claude-haiku-4-5"
	for _, c := range []struct {
		name, model string
		header      []string
		edited      bool
		status      int
	}{
		{"NothingFits", plain, nil, false, 200},
		{"ByModel", small, nil, true, 200},
		{"ByClient", plain, []string{"User-Agent", "Special-Agent/7 (x)"}, true, 200},
		{"ByHeader", plain, []string{"X-Decant-Preset", "mine"}, true, 200},
		{"HeaderBeatsRule", small, []string{"X-Decant-Preset", "default"}, false, 200},
		{"Off", small, []string{"X-Decant-Mode", "off"}, false, 200},
		{"Observe", small, []string{"X-Decant-Mode", "observe"}, false, 200},
		{"NoSuchPreset", plain, []string{"X-Decant-Preset", "nobody"}, false, 400},
		{"FileFromAClient", plain, []string{"X-Decant-Preset", file}, false, 400},
		{"NoSuchMode", plain, []string{"X-Decant-Mode", "sometimes"}, false, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			up := strict(sandbox.Options{})
			w := newWorld(t, up, gateway.Options{Rules: []gateway.Rule{
				{Model: "claude-HAIKU-*", Preset: mine}, {Client: "special-agent/*", Preset: mine},
			}}, engine.Options{Window: window})
			res, text := w.post(w.url, "/v1/messages", body(c.model), c.header...)
			if res.StatusCode != c.status {
				t.Fatalf("status %d: %s", res.StatusCode, text)
			}
			if c.status != 200 {
				return
			}
			if got := string(up.Log.Last().Body) != body(c.model); got != c.edited {
				t.Errorf("edited %t, want %t", got, c.edited)
			}
			w.engine.Close()
			cs, err := w.store.Conversations(t.Context(), store.Filter{})
			if off := c.name == "Off"; err != nil || (len(cs) == 0) != off {
				t.Errorf("%d conversations are stored: %v", len(cs), err)
			}
		})
	}
}

// get asks the gateway for one of its own pages.
func get(t *testing.T, w *world, path string, header ...string) (*http.Response, string) {
	t.Helper()
	return send(t, w, http.MethodGet, path, header...)
}

// send sends a request without a body and returns the response with its body read.
func send(t *testing.T, w *world, method, path string, header ...string) (*http.Response, string) {
	t.Helper()
	return sendBody(t, w, method, path, "", header...)
}

// sendBody is send with a body.
func sendBody(t *testing.T, w *world, method, path, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}
