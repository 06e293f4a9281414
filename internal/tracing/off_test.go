package tracing

import (
	"net/http"
	"testing"

	"github.com/decantdev/decant/engine"
	"github.com/decantdev/decant/internal/dialect"
	"github.com/decantdev/decant/internal/dialect/index"
)

// Where nothing is traced there is nothing to pay: no allocation, no other store, no other request.
func TestOffCostsNothing(t *testing.T) {
	var off *Tracing
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/v1/messages", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	res := &http.Response{Body: http.NoBody}
	n := testing.AllocsPerRun(100, func() {
		ctx, q := off.Begin(r.Context(), r, "id", index.Default, dialect.Door{})
		sent := q.Send(r)
		q.Answered(res, nil)
		id, span := q.IDs()
		q.End(End{})
		if ctx != r.Context() || sent != r || res.Body != http.NoBody || id+span != "" {
			t.Error("something was changed")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
	var s engine.Store = &traced{}
	if off.Store(s) != s {
		t.Error("another store")
	}
	off.Close(t.Context())
}
