package source

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func FuzzSentryEvent(f *testing.F) {
	f.Add(`[{"eventID":"1","dateCreated":"2026-11-23T02:11:09Z","entries":[{"type":"exception","data":{"values":[{"type":"E","value":"m","stacktrace":{"frames":[{"filename":"a","lineNo":1}]}}]}}]}]`)
	f.Fuzz(func(t *testing.T, body string) {
		s := &Sentry{Organization: "acme", Token: "sntrys_x", Base: "http://sentry.test", Via: answers(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/events/") {
				w.Write([]byte(body))
				return
			}
			w.Write([]byte(`[{"id":"1"}]`))
		})}
		for e, err := range s.Events(t.Context(), Window{}) {
			checkEvent(t, e, err)
		}
	})
}

func FuzzNewRelicRows(f *testing.F) {
	f.Add(`{"data":{"actor":{"account":{"nrql":{"results":[{"timestamp":1795400000123,"error.class":"E","stackTrace":["a"],"traceId":"1"}]}}}}}`)
	f.Add(`{"errors":[{"message":"no","extensions":{"errorClass":"X"}}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		n := &NewRelic{Account: 7, Key: "NRAK-x"}
		answer, err := n.service().answer([]byte(body))
		if err != nil || answer.Data.Actor.Account == nil || answer.Data.Actor.Account.NRQL == nil {
			return
		}
		rows := answer.Data.Actor.Account.NRQL.Results
		stacks := stacksOf(rows)
		for _, row := range rows {
			e, err := n.event(row, stacks)
			checkEvent(t, e, err)
		}
	})
}

// answers is a transport whose requests a handler answers.
type answers http.HandlerFunc

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	a(w, r)
	return w.Result(), nil
}
