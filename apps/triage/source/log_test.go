package source

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// short tells an event on one line: class, message, then each frame, one of the program's own code with a star.
func short(e Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.Class, e.Message)
	for _, f := range e.Frames {
		star := ""
		if f.InApp {
			star = "*"
		}
		fmt.Fprintf(&b, " | %s%s:%d %s", star, f.File, f.Line, f.Function)
	}
	if e.Cause != nil {
		b.WriteString(" <- " + short(*e.Cause))
	}
	return b.String()
}

// logged returns what a log tells.
func logged(t *testing.T, text string) (out []Event) {
	t.Helper()
	readAll(t.Context(), "log", time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC), strings.NewReader(text), logLines, func(e Event, err error) bool {
		if err != nil {
			t.Error(err)
		}
		out = append(out, e)
		return true
	})
	return out
}

var logs = []struct{ name, text, want string }{
	{"python", `2026-11-23 02:11:09,123 INFO app.web started
2026-11-23 02:11:10,456 ERROR app.orders order failed
Traceback (most recent call last):
  File "/srv/app/orders.py", line 42, in create
    total = price(items)
            ^^^^^^^^^^^^
  File "/usr/lib/python3.12/site-packages/lib/sums.py", line 7, in price
    return items["sum"]
KeyError: 'sum'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app/web.py", line 9, in handle
    create()
app.errors.OrderError: cannot create order 1234
2026-11-23 02:11:11,000 INFO app.web goes on
`, "app.errors.OrderError: cannot create order 1234 | */srv/app/web.py:9 handle <- KeyError: 'sum' | /usr/lib/python3.12/site-packages/lib/sums.py:7 price | */srv/app/orders.py:42 create"},
	{"go panic", `2026/11/23 02:11:09 listening
panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x1234]

goroutine 34 [running]:
example.com/shop/orders.(*Service).Create(0xc000010000, {0x1, 0x2})
	/src/shop/orders/service.go:57 +0x1d
net/http.HandlerFunc.ServeHTTP(0xc0000?, {0x1?, 0x2?}, 0x3?)
	/usr/local/go/src/net/http/server.go:2171 +0x29
created by net/http.(*Server).Serve in goroutine 1
	/usr/local/go/src/net/http/server.go:3285 +0x4b4
exit status 2
`, "runtime error: runtime error: invalid memory address or nil pointer dereference | */src/shop/orders/service.go:57 example.com/shop/orders.(*Service).Create | /usr/local/go/src/net/http/server.go:2171 net/http.HandlerFunc.ServeHTTP | /usr/local/go/src/net/http/server.go:3285 net/http.(*Server).Serve"},
	{"go recovered by http", `2026/11/23 02:11:09 http: panic serving 10.0.0.1:5555: runtime error: index out of range [5] with length 3
goroutine 7 [running]:
net/http.(*conn).serve.func1()
	/usr/local/go/src/net/http/server.go:1898 +0xbe
panic({0x6c2a20?, 0xc00001e0f0?})
	/usr/local/go/src/runtime/panic.go:770 +0x132
main.handler({0x1, 0x2}, 0x3)
	/src/main.go:12 +0x1d
`, "runtime error: runtime error: index out of range [5] with length 3 | */src/main.go:12 main.handler"},
	{"java", `2026-11-23 02:11:09.123  WARN 1 --- [main] c.a.Other : slow
2026-11-23 02:11:09.123 ERROR 1 --- [nio-8080-exec-1] c.a.OrderController : request failed
java.lang.IllegalStateException: cannot create order
	at com.acme.OrderService.create(OrderService.java:57)
	at org.springframework.web.Servlet.doGet(Servlet.java:9)
Caused by: java.lang.NullPointerException: Cannot invoke "Price.sum()" because "p" is null
	at com.acme.Price.of(Price.java:12)
	... 42 more
`, `java.lang.IllegalStateException: cannot create order | *OrderService.java:57 com.acme.OrderService.create | Servlet.java:9 org.springframework.web.Servlet.doGet <- java.lang.NullPointerException: Cannot invoke "Price.sum()" because "p" is null | *Price.java:12 com.acme.Price.of`},
	{"java thread", "Exception in thread \"main\" java.util.NoSuchElementException\n\tat java.base/java.util.Optional.get(Optional.java:143)\n\tat Main.main(Main.java:3)\n",
		"java.util.NoSuchElementException:  | Optional.java:143 java.util.Optional.get | *Main.java:3 Main.main"},
	{"ruby", "/srv/app/orders.rb:12:in `create': undefined method `sum' for nil (NoMethodError)\n\tfrom /usr/lib/ruby/gems/3.3.0/gems/rack-3.0.0/lib/rack.rb:5:in `call'\n\tfrom bin/server:3:in `<main>'\n",
		"NoMethodError: undefined method `sum' for nil | */srv/app/orders.rb:12 create | /usr/lib/ruby/gems/3.3.0/gems/rack-3.0.0/lib/rack.rb:5 call | *bin/server:3 <main>"},
	{"rails", "E, [2026-11-23T02:11:09.1 #12] ERROR -- : [id] ActiveRecord::RecordNotFound (Couldn't find Order with 'id'=77):\n\napp/controllers/orders_controller.rb:14:in `show'\n",
		"ActiveRecord::RecordNotFound: Couldn't find Order with 'id'=77 | *app/controllers/orders_controller.rb:14 show"},
	{"node", "2026-11-23T02:11:09.000Z error: request failed\nTypeError: Cannot read properties of undefined (reading 'sum')\n    at price (/srv/app/price.js:12:9)\n    at async create (file:///srv/app/orders.mjs:40:3)\n    at next (/srv/app/node_modules/express/lib/router.js:5:1)\n    at node:internal/process/task_queues:95:5 {\n  [cause]: RangeError: too far\n      at far (/srv/app/far.js:1:2)\n}\n",
		"TypeError: Cannot read properties of undefined (reading 'sum') | */srv/app/price.js:12 price | */srv/app/orders.mjs:40 create | /srv/app/node_modules/express/lib/router.js:5 next | node:internal/process/task_queues:95  <- RangeError: too far | */srv/app/far.js:1 far"},
	{"one line", "2026-11-23T02:11:09Z ERROR orders: cannot reach 10.0.0.7:5432\n2026-11-23T02:11:10Z INFO error rate is 0\n", ": cannot reach 10.0.0.7:5432"},
	{"logfmt", `time=2026-11-23T02:11:09Z level=error msg="cannot save" error="disk \"a\" full" service=shop` + "\n", `: cannot save: disk "a" full`},
	{"klog", "E1123 02:11:09.000001       1 sync.go:42] cannot sync pod\n", ": cannot sync pod"},
	{"slog", `time=2026-11-23T02:11:09.5Z level=ERROR msg="cannot save" err="disk full"` + "\n", ": cannot save: disk full"},
	{"deadlock", "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\nmain.main()\n\t/src/d.go:2 +0x25\nexit status 2\n", "fatal error: all goroutines are asleep - deadlock! | */src/d.go:2 main.main"},
	{"panic in a deferred call", "panic: first [recovered]\n\tpanic: again: first\n\ngoroutine 1 [running]:\nmain.main.func2()\n\t/src/main.go:12 +0xe9\npanic({0x78fc20?, 0x1?})\n\t/usr/local/go/src/runtime/panic.go:783 +0x132\nmain.main()\n\t/src/main.go:13 +0x29\n", "panic: first | */src/main.go:13 main.main"},
	{"java.util.logging", "Nov 23, 2026 2:11:08 AM A main\nINFO: up\nNov 23, 2026 2:11:09 AM A main\nSEVERE: request failed\njava.lang.IllegalStateException: cannot create\nreally\n\tat A.create(A.java:4)\n", "java.lang.IllegalStateException: cannot create\nreally | *A.java:4 A.create"},
	{"exception group", "2026-11-23 02:11:09,005 ERROR [shop] group\n  + Exception Group Traceback (most recent call last):\n  |   File \"/srv/a.py\", line 14, in f\n  |     raise ExceptionGroup(\"many\", es)\n  | ExceptionGroup: many (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n    | ValueError: a\n    +---------------- 2 ----------------\n    | TypeError: b\n    +------------------------------------\n",
		"ExceptionGroup: many (2 sub-exceptions)\nValueError: a\nTypeError: b | */srv/a.py:14 f"},
	{"json between", "plain words\n" + `{"level":"error","ts":1795400000.5,"msg":"cannot save","error":"EOF"}` + "\n", ": cannot save: EOF"},
	{"docker", "2026-11-23T02:11:09.1Z Traceback (most recent call last):\n2026-11-23T02:11:09.1Z   File \"/srv/a.py\", line 2, in f\n2026-11-23T02:11:09.1Z     g()\n2026-11-23T02:11:09.1Z ValueError: no\n2026-11-23T02:11:10Z done\n",
		"ValueError: no | */srv/a.py:2 f"},
}

func TestLogsOfManyLanguages(t *testing.T) {
	for _, test := range logs {
		t.Run(test.name, func(t *testing.T) {
			got := logged(t, test.text)
			if len(got) != 1 || short(got[0]) != test.want {
				t.Fatalf("%d events\n got %s\nwant %s", len(got), short(append(got, Event{})[0]), test.want)
			}
			if at := got[0].Time; at.Before(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)) || at.After(time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC)) {
				t.Errorf("time %v", at)
			}
		})
	}
}

// All logs one behind the other have the same errors as each by itself.
func TestLogsOneBehindTheOther(t *testing.T) {
	var all strings.Builder
	var want []string
	for _, test := range logs {
		all.WriteString(test.text + "2026-11-23T02:12:00Z INFO next\n")
		want = append(want, test.want)
	}
	var got []string
	for _, e := range logged(t, all.String()) {
		got = append(got, short(e))
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// Errors that follow each other without a time between them are errors of their own.
func TestErrorsWithoutTimes(t *testing.T) {
	python := "Traceback (most recent call last):\n  File \"/srv/a.py\", line 2, in f\n    g()\nValueError: no\n"
	node := "TypeError: x\n    at f (/srv/a.js:1:2)\n    at node:internal/main:28:49 {\n  [cause]: RangeError: far\n      at g (/srv/b.js:1:2)\n}\n"
	java := "java.lang.IllegalStateException: cannot\n\tat A.create(A.java:4)\nCaused by: java.io.IOException: gone\n\tat A.read(A.java:9)\n\t... 9 more\n\n"
	golang := "panic: no\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:3 +0x1\nexit status 2\n"
	want := []string{"ValueError", "ValueError", "TypeError", "TypeError", "Error", "java.lang.IllegalStateException", "java.lang.IllegalStateException", "panic", "panic"}
	var got []string
	for _, e := range logged(t, strings.Join([]string{python + python, node + node, "/srv/a.js:3\nthrow e\n      ^\n\n" + strings.ReplaceAll(node, "TypeError", "Error"), java + java, golang + golang}, "INFO next\n")) {
		got = append(got, e.Class)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %q", got)
	}
	cut := logged(t, "2026-11-23 02:11:09,1 ERROR a\nTraceback (most recent call last):\n  File \"/srv/a.py\", line 2, in f\n2026-11-23 02:11:10,1 ERROR b\n")
	if len(cut) != 2 || cut[1].Message != "b" {
		t.Errorf("a traceback without an end takes the line behind it: %+v", cut)
	}
}

func TestTimesOfLogs(t *testing.T) {
	near := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct{ line, want string }{
		{"2026-11-23T02:11:09Z x", "2026-11-23T02:11:09Z"},
		{"2026-11-23 02:11:09,5 x", "2026-11-23T02:11:09.5Z"},
		{"2026-11-23T04:11:09.25+0200 x", "2026-11-23T02:11:09.25Z"},
		{"[2026-11-23 04:11:09 +0200] x", "2026-11-23T02:11:09Z"},
		{"2026/11/23 02:11:09 x", "2026-11-23T02:11:09Z"},
		{"Dec 31 23:59:59 host x", "2025-12-31T23:59:59Z"},
		{"[Mon Nov 23 02:11:09 2026] x", "2026-11-23T02:11:09Z"},
		{"Nov 23, 2026 2:11:09 PM com.acme.Main main", "2026-11-23T14:11:09Z"},
		{"time=2026-11-23T02:11:09.5Z level=INFO", "2026-11-23T02:11:09.5Z"},
		{"[23/Nov/2026:02:11:09 +0000] x", "2026-11-23T02:11:09Z"},
		{"2026-13-23T02:11:09Z x", ""}, {"x 2026-11-23T02:11:09Z", ""}, {"", ""},
	} {
		at, _, ok := split(test.line, near)
		if got := at.Format(time.RFC3339Nano); ok != (test.want != "") || ok && got != test.want {
			t.Errorf("%q: got %s, %v", test.line, got, ok)
		}
	}
}

// A log of 64 MB with lines without an end is read with bounded memory.
func TestHugeLinesAreSkipped(t *testing.T) {
	long := strings.Repeat("x", mostLine+10)
	got := logged(t, long+"\n2026-11-23T02:11:09Z ERROR a\n"+long+"\n\n2026-11-23T02:11:10Z ERROR b")
	if len(got) != 2 || got[0].Message != "a" || got[1].Message != "b" {
		t.Errorf("got %+v", got)
	}
	deep := "2026-11-23T02:11:09Z ERROR a\nTraceback (most recent call last):\n" + strings.Repeat("  File \"/a.py\", line 1, in f\n    f()\n", 100_000) + "RecursionError: too deep\n"
	if got = logged(t, deep); len(got) != 1 || len(got[0].Frames) != mostFrames {
		t.Errorf("got %d events", len(got))
	}
}

func TestLogFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, at time.Time) {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	day := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	write("a.log", "2026-11-22T23:00:00Z ERROR before\n2026-11-23T01:00:00Z ERROR within\n", day.Add(2*time.Hour))
	write("b.log", "2026-11-23T01:00:00Z ERROR written long ago\n", day.Add(-48*time.Hour))
	write("c.log", "panic: no time\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:3 +0x1\n", day.Add(3*time.Hour))
	s := &Log{Files: []string{filepath.Join(dir, "*.log"), filepath.Join(dir, "a.log")}, Service: "shop"}
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for e, err := range s.Events(t.Context(), Window{day, day.Add(24 * time.Hour)}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Time.Format("15:04 ")+e.Service+" "+e.Message)
	}
	if want := "01:00 shop within, 03:00 shop no time"; strings.Join(got, ", ") != want {
		t.Errorf("got %q", got)
	}
	for _, files := range [][]string{nil, {filepath.Join(dir, "none.log")}, {filepath.Join(dir, "*.none")}, {"[a"}} {
		if err := (&Log{Files: files}).Check(t.Context()); err == nil {
			t.Errorf("%q: no error", files)
		}
	}
}

func TestReadingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n, last := 0, error(nil)
	readAll(ctx, "log", time.Time{}, io.MultiReader(strings.NewReader(strings.Repeat("2026-11-23T01:00:00Z ERROR a\n", 100))), logLines, func(_ Event, err error) bool {
		n, last = n+1, err
		cancel()
		return true
	})
	if n > 3 || last != context.Canceled {
		t.Errorf("%d events, then %v", n, last)
	}
}

func FuzzLog(f *testing.F) {
	for _, w := range wrappings {
		f.Add(wrappedText(logs[0].text, w.wrap))
	}
	for _, test := range logs {
		f.Add(test.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		readAll(t.Context(), "log", time.Unix(1795400000, 0), strings.NewReader(text), logLines, func(e Event, err error) bool {
			checkEvent(t, e, err)
			return true
		})
		e, _ := Parse(text)
		e.Time = time.Unix(1, 0)
		if e.Class+e.Message != "" {
			checkEvent(t, e, nil)
		}
	})
}

// checkEvent holds an event against what is promised of each.
func checkEvent(t *testing.T, e Event, err error) {
	t.Helper()
	if err != nil {
		return
	}
	if e.Time.IsZero() || e.Class+e.Message == "" && len(e.Frames) == 0 {
		t.Errorf("event without time, or without all else: %+v", e)
	}
	for c, n := &e, 0; c != nil; c, n = c.Cause, n+1 {
		if n > mostCauses+1 || len(c.Frames) > mostFrames || len(c.Message) > mostMessage || len(c.Attributes) > mostAttributes {
			t.Errorf("event is too large")
		}
	}
}
