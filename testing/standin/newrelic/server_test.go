package newrelic

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/testing/standin"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func server() *Server {
	at := func(minutes int) int64 { return now.Add(-time.Duration(minutes) * time.Minute).UnixMilli() }
	return New(Options{Key: "k", Account: 7, Now: func() time.Time { return now }, Rows: map[string][]Row{"TransactionError": {
		{"timestamp": at(10), "error.class": "KeyError", "appName": "shop", "n": 1},
		{"timestamp": at(5), "error.class": "KeyError", "appName": "mail", "n": 2},
		{"timestamp": at(1), "error.class": "IOError", "appName": "shop's", "n": 3.5},
		{"timestamp": at(120), "error.class": "Old", "appName": "shop"},
	}}})
}

// ask sends a query, and returns the results of its NRQL or the first error with its class.
func ask(t *testing.T, s *Server, query, nrql string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": map[string]any{"account": 7, "nrql": nrql}})
	if err != nil {
		t.Fatal(err)
	}
	w := send(s, http.MethodPost, "/graphql", "k", "application/json", string(body))
	var out struct {
		Data struct {
			Actor struct {
				Account struct {
					NRQL struct{ Results json.RawMessage }
				}
			}
		}
		Errors []struct {
			Message    string
			Extensions struct{ ErrorClass string }
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	if len(out.Errors) > 0 {
		return out.Errors[0].Extensions.ErrorClass + " " + out.Errors[0].Message
	}
	return string(out.Data.Actor.Account.NRQL.Results)
}

func send(s *Server, method, path, key, kind, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	if key != "" {
		r.Header.Set("Api-Key", key)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestNRQL(t *testing.T) {
	s := server()
	for _, test := range []struct{ nrql, want string }{
		{"SELECT count(*) FROM TransactionError", `[{"count":3}]`},
		{"select COUNT(*) from TransactionError since 3 hours ago", `[{"count":4}]`},
		{"SELECT count(*) FROM TransactionError SINCE 7 minutes ago UNTIL 3 minutes ago", `[{"count":1}]`},
		{"SELECT count(*) FROM TransactionError WHERE appName = 'shop\\'s'", `[{"count":1}]`},
		{"SELECT count(*) FROM TransactionError WHERE appName LIKE 'sh%' AND error.class IN ('KeyError', 'Other')", `[{"count":1}]`},
		{"SELECT count(*), latest(appName) FROM TransactionError WHERE `error.class` = 'KeyError'", `[{"count":2,"latest.appName":"mail"}]`},
		{"SELECT count(*) FROM TransactionError FACET error.class", `[{"count":2,"error.class":"KeyError","facet":"KeyError"},{"count":1,"error.class":"IOError","facet":"IOError"}]`},
		{"SELECT count(*) FROM TransactionError FACET error.class, appName LIMIT 1", `[{"appName":"shop's","count":1,"error.class":"IOError","facet":["IOError","shop's"]}]`},
		{"SELECT n FROM TransactionError LIMIT 2", `[{"n":3.5,"timestamp":1795434_},{"n":2,"timestamp":1795434_}]`},
		{"SELECT * FROM TransactionError WHERE n = 1", `[{"appName":"shop","error.class":"KeyError","n":1,"timestamp":_}]`},
		{"SELECT * FROM Span", `[]`},
	} {
		got := ask(t, s, Query, test.nrql)
		if strings.Contains(test.want, "_") {
			for _, part := range strings.Split(test.want, "_") {
				part = strings.TrimSuffix(part, "1795434")
				if !strings.Contains(got, part) {
					t.Errorf("%s: got %s, want %s", test.nrql, got, part)
				}
			}
		} else if got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.nrql, got, test.want)
		}
	}
}

func TestWhatNRQLIsRefused(t *testing.T) {
	s := server()
	for _, nrql := range []string{
		"", "SELECT", "SELECT * FROM", "SELECT * TransactionError", "SELECT average(n) FROM TransactionError", "SELECT * FROM T WHERE n > 1", "SELECT * FROM T WHERE n = 1 OR n = 2",
		"SELECT * FROM T LIMIT 0", "SELECT * FROM T LIMIT 5001", "SELECT * FROM T LIMIT 1 LIMIT 2", "SELECT * FROM T FACET n", "SELECT n, count(*) FROM T", "SELECT * FROM T SINCE yesterday",
		"SELECT * FROM T SINCE 5", "SELECT * FROM T SINCE 1 minute ago UNTIL 2 minutes ago", "SELECT * FROM T TIMESERIES", "SELECT * FROM T;", "SELECT * FROM T WHERE a = 'open", `SELECT * FROM T WHERE a IN ()`, "SELECT * FROM T WHERE a = \"x\"", "FROM T SELECT *",
	} {
		if got := ask(t, s, Query, nrql); !strings.Contains(got, "NRQL") || !strings.Contains(got, "Error") {
			t.Errorf("%q: got %s", nrql, got)
		}
	}
}

func TestWhatGraphQLIsRefused(t *testing.T) {
	for body, want := range map[string]string{
		`{"query": "{ actor { user { email } } }", "variables": {}}`:                                                           "INVALID_QUERY",
		`{"query": "` + Query + `", "variables": {"account": 7}}`:                                                              "INVALID_QUERY",
		`{"query": "` + Query + `", "variables": {"account": 8, "nrql": "SELECT * FROM T"}}`:                                   "ACCESS_DENIED",
		`{"query": "` + strings.ReplaceAll(Query, " ", "\\n  ") + `", "variables": {"account": 7, "nrql": "SELECT * FROM T"}}`: `"results":[]`,
	} {
		if w := send(server(), http.MethodPost, "/graphql", "k", "application/json", body); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", body, w.Code, w.Body, want)
		}
	}
}

func TestStatuses(t *testing.T) {
	s := server()
	good := `{"query":"` + Query + `","variables":{"account":7,"nrql":"SELECT * FROM T"}}`
	for _, test := range []struct {
		method, path, key, kind, body string
		want                          int
	}{
		{"POST", "/graphql", "k", "application/json; charset=utf-8", good, 200}, {"GET", "/graphql", "k", "application/json", good, 405}, {"POST", "/other", "k", "application/json", good, 404},
		{"POST", "/graphql", "", "application/json", good, 401}, {"POST", "/graphql", "x", "application/json", good, 401}, {"POST", "/graphql", "k", "text/plain", good, 415},
		{"POST", "/graphql", "k", "application/json", "{", 400}, {"POST", "/graphql", "k", "application/json", "{}", 400}, {"POST", "/graphql", "k", "application/json", `{"query":"` + strings.Repeat(" ", mostCall) + `"}`, 400},
	} {
		if got := send(s, test.method, test.path, test.key, test.kind, test.body).Code; got != test.want {
			t.Errorf("%s %s %s %s: %d, want %d", test.method, test.path, test.kind, test.body[:min(len(test.body), 30)], got, test.want)
		}
	}
	s.Inject(standin.Fault{Operation: "other", Status: 500})
	s.Inject(standin.Fault{Operation: "nrql", Status: 429, RetryAfter: 1500 * time.Millisecond})
	w := send(s, "POST", "/graphql", "k", "application/json", good)
	if w.Code != 429 || w.Header().Get("Retry-After") != "2" {
		t.Errorf("got %d, %v", w.Code, w.Header())
	}
}

func FuzzNRQL(f *testing.F) {
	f.Add("SELECT count(*), latest(a.b) FROM T WHERE a = 'x' AND b LIKE '%y' AND c IN (1, 2) FACET a SINCE 1795400000000 UNTIL now LIMIT MAX")
	f.Fuzz(func(t *testing.T, text string) {
		q, err := parseQuery(text, now)
		if err == nil {
			q.run([]Row{{"timestamp": now.UnixMilli() - 1, "a": "x"}})
		}
	})
}
