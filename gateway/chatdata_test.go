package gateway_test

import (
	"bufio"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/testkit"
)

// dataEnv names the folder with real recordings. Without it they are not replayed.
const dataEnv = "DECANT_DATA"

// Real dialogs of service agents pass the door request by request, on a window that is far too small for them, and
// the server finds none that is against its rules.
func TestChatDialogs(t *testing.T) {
	dir := os.Getenv(dataEnv)
	if dir == "" {
		t.Skipf("set %s to the folder of recordings", dataEnv)
	}
	dialogs := dialogsIn(t, filepath.Join(dir, "tau-bench", "tau-airline-gpt-4o.jsonl.gz"))
	dialogs = dialogs[:testkit.Depth(5, len(dialogs))]
	s := sandbox.New(sandbox.Options{Local: []string{"local"}, Window: 6000, LogSize: 1 << 16})
	up := httptest.NewServer(s)
	defer up.Close()
	base, err := url.Parse(up.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, http.NotFoundHandler(), gateway.Options{OpenAI: base}, engine.Options{Window: 6000})
	sent, smaller := 0, 0
	for _, messages := range dialogs {
		for n := range messages {
			var m struct {
				Role string `json:"role"`
			}
			if err := json.Unmarshal(messages[n], &m); err != nil {
				t.Fatal(err)
			}
			if m.Role != "assistant" || n < 2 {
				continue
			}
			body, err := json.Marshal(map[string]any{"model": "local", "max_tokens": 500, "messages": messages[:n]})
			if err != nil {
				t.Fatal(err)
			}
			res, text := w.post(w.url, "/v1/chat/completions", string(body), "Authorization", "Bearer any")
			if res.StatusCode != http.StatusOK || res.Header.Get("X-Decant-Fault") != "" {
				t.Errorf("request %d: status %d, %s, %s", sent, res.StatusCode, res.Header.Get("X-Decant-Fault"), text)
			}
			if sent++; len(s.Log.Last().Body) < len(body)*3/4 {
				smaller++
			}
		}
	}
	if n := len(s.Log.Refused()); n > 0 || smaller == 0 {
		t.Errorf("of %d requests %d were refused, and %d were made smaller", sent, n, smaller)
	}
	t.Logf("%d dialogs, %d requests, %d of them made smaller", len(dialogs), sent, smaller)
}

// dialogsIn returns the messages of each recording in a file.
func dialogsIn(t *testing.T, name string) (out [][]jsontext.Value) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var d struct {
			Messages []jsontext.Value `json:"traj"`
		}
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		for i := range d.Messages {
			d.Messages[i] = d.Messages[i].Clone()
		}
		out = append(out, d.Messages)
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return out
}
