package gateway_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/gateway"
	"github.com/decantdev/decant/testing/sandbox"
)

// The log of an observed request says what was planned, and not that it was done.
func TestTheLogSaysPlanned(t *testing.T) {
	const window = 30_000
	up := strict(sandbox.Options{Window: 200_000})
	w := newWorld(t, up, gateway.Options{}, engine.Options{Window: window, Mode: engine.Observe})
	var ms []string
	for n := range 20 {
		ms = append(ms, fmt.Sprintf(`{"role":"user","content":"Question %d. %s"},{"role":"assistant","content":"Answer %d."}`, n, strings.Repeat("plain words of a long question ", 250), n))
	}
	body := `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[` + strings.Join(ms, ",") + `,{"role":"user","content":"And now?"}]}`
	if res, text := w.post(w.url, "/v1/messages", body); res.StatusCode != http.StatusOK || string(up.Log.Last().Body) != body {
		t.Fatalf("status %d, %d of %d bytes left: %s", res.StatusCode, len(up.Log.Last().Body), len(body), text)
	}
	log := w.logged()
	if !strings.Contains(log, " planned=necessary ") || strings.Contains(log, " pour=") || strings.Contains(log, "left_out=") {
		t.Errorf("the log says %s", log)
	}
	sizes := regexp.MustCompile(` tokens=(\d+) .* tokens_planned=(\d+)`).FindStringSubmatch(log)
	if sizes == nil || len(sizes[1]) < len(sizes[2]) || sizes[1] == sizes[2] {
		t.Errorf("sizes %q in %s", sizes, log)
	}
}
