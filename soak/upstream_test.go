package soak

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/testing/sandbox"
)

// faultHeader asks the upstream for a fault: its kind, and after how many events. A client knows so what its answer
// must be.
const faultHeader = "X-Soak-Fault"

// An upstream is a sandbox that remembers what it has booked.
type upstream struct {
	url string
	srv *httptest.Server

	mu     sync.Mutex
	booked decant.Usage            // of all answers
	usage  map[string]decant.Usage // by request id
	said   map[string]decant.Hash  // likewise: content of the answer
}

func newUpstream(t *testing.T) *upstream {
	t.Helper()
	u := &upstream{usage: map[string]decant.Usage{}, said: map[string]decant.Hash{}}
	u.srv = httptest.NewServer(sandbox.New(sandbox.Options{
		Model: &sandbox.Rules{Calls: 4, Parallel: 2, Thought: 300}, Window: window, LogSize: 16, LogBytes: 1 << 20,
		Logged: u.book, Faults: func(_ int, r *http.Request) sandbox.Fault { return faultOf(r.Header.Get(faultHeader)) },
	}))
	t.Cleanup(u.srv.Close)
	u.url = u.srv.URL
	return u
}

// faultOf reads the value of faultHeader, as in "cut/3".
func faultOf(text string) sandbox.Fault {
	kind, after, _ := strings.Cut(text, "/")
	n, _ := strconv.Atoi(after) // nothing is 0
	f := sandbox.Fault{Kind: sandbox.FaultKind(kind), After: n}
	if f.Kind == sandbox.FaultSlow {
		f.Wait = 5 * time.Millisecond
	}
	return f
}

// book notes an answer.
func (u *upstream) book(e sandbox.Entry) {
	if e.Status != http.StatusOK || e.Answer == nil {
		return
	}
	id := "req_sandbox_" + strings.Repeat("0", max(0, 6-len(strconv.Itoa(e.Number)))) + strconv.Itoa(e.Number)
	var message struct{ Content json.RawMessage }
	if json.Unmarshal(e.Answer, &message) != nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.booked = u.booked.Add(e.Usage)
	u.usage[id] = e.Usage
	u.said[id] = canonical(message.Content)
}

// canonical returns the hash of a JSON value whatever its spacing and the order of its members.
func canonical(text []byte) decant.Hash {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return decant.Hash{}
	}
	out, err := json.Marshal(v)
	if err != nil {
		return decant.Hash{}
	}
	return decant.HashText(string(out))
}
