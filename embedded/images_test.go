package embedded_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decantdev/decant/embedded"
	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

// screenshot returns an image that is wider than requests with many images may hold, in base64.
func screenshot(t *testing.T, r *rand.Rand) string {
	m := image.NewGray(image.Rect(0, 0, 2100, 8))
	for x := range 2100 {
		for y := range 8 {
			m.SetGray(x, y, color.Gray{Y: uint8(r.Uint32())})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// Where the provider refuses a request because there are too many large images in it, it goes out with fewer: the oldest leave. A session of
// screenshots goes on, and is refused now and then only.
func TestManyLargeImages(t *testing.T) {
	up := sandbox.New(sandbox.Options{})
	api := httptest.NewServer(up)
	defer api.Close()
	db, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"),
		&embedded.Options{Engine: engine.Options{Timeouts: sandboxtest.Patient, NoEarlyPours: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := rand.New(rand.NewPCG(1, 2))
	ms := []string{`{"role":"user","content":"Look at the pages."}`}
	const pages = 45
	for n := range pages {
		ms = append(ms,
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"call_%d","name":"look","input":{"page":%[1]d}}]}`, n),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_%d","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}}]}]}`,
				n, screenshot(t, r)))
		body := `{"model":"claude-sonnet-4-5","max_tokens":100,"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[` + strings.Join(ms, ",") + `]}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api.URL+"/v1/messages", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"X-Api-Key": "key", "Anthropic-Version": "2023-06-01", "Content-Type": "application/json"} {
			req.Header.Set(name, value)
		}
		res, err := db.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("page %d: status %d", n, res.StatusCode)
		}
	}
	if refused := len(up.Log.Refused()); refused == 0 || refused > 5 {
		t.Errorf("%d requests were refused on the way, want some, and no more than 5", refused)
	}
}
