package deliver_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
)

// ask calls the stand-in for GitHub without the client, in process, and reports whether it is 2xx.
func (w *world) ask(method, path, body string, to any) bool {
	w.Helper()
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer right")
	rec := httptest.NewRecorder()
	w.hub.ServeHTTP(rec, req)
	if rec.Code/100 != 2 {
		return false
	}
	if err := json.Unmarshal(rec.Body.Bytes(), to); err != nil {
		w.Fatal(err)
	}
	return true
}

func (w *world) get(path string, to any) bool { return w.ask(http.MethodGet, path, "", to) }

// edit changes an issue, as people do on its page.
func (w *world) edit(number int, body string) {
	w.Helper()
	var i any
	if !w.ask(http.MethodPatch, "/repos/acme/shop/issues/"+string(rune('0'+number)), body, &i) {
		w.Fatalf("issue %d cannot be changed", number)
	}
}
