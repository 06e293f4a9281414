package group_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/apps/triage/internal/group"
	"github.com/decantdev/decant/apps/triage/source"
)

var day = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// own returns a call stack in the program's own code.
func own(places ...string) (out []source.Frame) {
	for i, p := range places {
		out = append(out, source.Frame{File: p, Line: 10 + i, Function: "f", InApp: !strings.HasPrefix(p, "lib/")})
	}
	return out
}

// Events of one error differ in their values, in the lines of another release, and in what libraries are in between; other errors differ in more.
func TestKey(t *testing.T) {
	base := source.Event{Service: "shop", Class: "KeyError", Message: "no order 4711 of ada@example.com at 10.0.0.1:8080 'WINTER'", Transaction: "POST /order/4711", Frames: own("lib/a.py", "/app/shop/order.py", "/app/shop/web.py")}
	for name, change := range map[string]func(*source.Event){
		"a number": func(e *source.Event) { e.Message = "no order 12 of ada@example.com at 10.0.0.1:8080 'WINTER'" }, "an address": func(e *source.Event) { e.Message = "no order 4711 of bob@x.org at 10.9.8.7:1 'WINTER'" },
		"a line": func(e *source.Event) { e.Frames = slices.Clone(e.Frames); e.Frames[1].Line = 99 }, "a library": func(e *source.Event) { e.Frames = own("lib/b.py", "/app/shop/order.py", "/app/shop/web.py") },
		"a machine": func(e *source.Event) { e.Frames = own("lib/a.py", "/srv/x/shop/order.py", "/srv/x/shop/web.py") }, "a transaction": func(e *source.Event) { e.Transaction = "GET /" },
		"a time": func(e *source.Event) { e.Time = day }, "a name in quotes": func(e *source.Event) { e.Message = strings.Replace(base.Message, "WINTER", "FALL", 1) },
	} {
		e := base
		change(&e)
		if group.Key(&e, group.ByFingerprint) != group.Key(&base, group.ByFingerprint) {
			t.Errorf("%s makes it another error", name)
		}
	}
	for name, change := range map[string]func(*source.Event){
		"class": func(e *source.Event) { e.Class = "IndexError" }, "words": func(e *source.Event) { e.Message = "no customer 4711 of ada@example.com at 10.0.0.1:8080" }, "service": func(e *source.Event) { e.Service = "mail" },
		"file": func(e *source.Event) { e.Frames = own("lib/a.py", "/app/shop/cart.py", "/app/shop/web.py") }, "cause": func(e *source.Event) { e.Cause = &source.Event{Class: "OSError"} },
	} {
		e := base
		change(&e)
		if group.Key(&e, group.ByFingerprint) == group.Key(&base, group.ByFingerprint) {
			t.Errorf("another %s is the same error", name)
		}
	}
	other := base
	other.Message, other.Frames = "other", nil
	if group.Key(&other, group.ByTransaction) != group.Key(&base, group.ByTransaction) {
		t.Error("class and transaction are not all that counts")
	}
}

// Without a stack nothing but the message tells errors apart: what is quoted counts.
func TestQuotedNamesWithoutAStack(t *testing.T) {
	a, b := source.Event{Class: "KeyError", Message: "'sku'"}, source.Event{Class: "KeyError", Message: "'price'"}
	if group.Key(&a, group.ByFingerprint) == group.Key(&b, group.ByFingerprint) {
		t.Error("two errors are one")
	}
}

func TestName(t *testing.T) {
	frames := []source.Frame{{File: "/usr/lib/x.go", Function: "lib.X"}, {File: "/src/shop/cart.go", Line: 12, Function: "example.com/shop/cart.Total", InApp: true}}
	for want, e := range map[string]source.Event{
		"KeyError in POST /order": {Class: "KeyError", Message: "'sku'", Transaction: "POST /order", Frames: frames},
		"KeyError in cart.Total":  {Class: "KeyError", Message: "'sku'", Frames: frames},
		"runtime error: invalid memory address or nil pointer dereference in cart.Total": {Class: "runtime error", Message: "runtime error: invalid memory address or nil pointer dereference", Frames: frames},
		"disk is full": {Message: "disk is full"}, "panic": {Class: "panic"}, "an error": {},
		"E in shop/cart.go": {Class: "E", Frames: []source.Frame{{File: "/src/shop/cart.go", InApp: true}}},
	} {
		if got := group.Events([]source.Event{e}, group.ByFingerprint)[0].Name(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNormal(t *testing.T) {
	for in, want := range map[string]string{
		"user 42 not found": "user <n> not found", "took 1.5s, limit 300ms": "took <n>, limit <n>", "id 550e8400-e29b-41d4-a716-446655440000": "id <uuid>",
		"GET https://x.example/a?b=1 failed": "GET <url> failed", "open /var/lib/x/y.db: no": "open <path>: no", "at 2026-11-24T01:02:03Z": "at <time>", "addr 0xc000123": "addr <hex>",
		"commit deadbeef1 is gone": "commit <hex> is gone", "KeyError: 'sku'": "KeyError: 'sku'", "KeyError: 'sku-4711'": "KeyError: '<value>'", "unexpected \"a b c\"": "unexpected \"<value>\"",
		"a1 b2": "a1 b2", "face added": "face added", "  two\n lines ": "two lines", "": "",
	} {
		if got := group.Normal(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// A normal text stays as it is, and no text is too long or broken.
func FuzzNormal(f *testing.F) {
	for _, s := range []string{"user 42", "'a' \"b", "\xff\xfe", strings.Repeat("é9 ", 400), "/a/b/c 1.2.3.4 0x1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n := group.Normal(s); len(n) > 400 || strings.ContainsAny(n, "\n\r") {
			t.Errorf("%q", n)
		}
	})
}

func TestEvents(t *testing.T) {
	var all []source.Event
	for i := range 30 {
		all = append(all, source.Event{Time: day.Add(time.Duration(i*37%30) * time.Hour), Class: "E", Message: fmt.Sprint("n ", i)}, source.Event{Time: day, Class: "F"})
	}
	gs := group.Events(all, group.ByFingerprint)
	if len(gs) != 2 || gs[0].Class != "E" || gs[0].Count != 30 || !gs[0].First.Equal(day) || !gs[0].Last.Equal(day.Add(29*time.Hour)) || !gs[0].Newest.Time.Equal(gs[0].Last) || len(gs[0].Others) != 9 ||
		!gs[0].Others[0].Time.Equal(day.Add(28*time.Hour)) || gs[0].Days["2026-11-23"] != 24 || gs[0].Days["2026-11-24"] != 6 {
		t.Errorf("%+v", gs[0])
	}
}

func TestState(t *testing.T) {
	days := func(from time.Time, n, each int) map[string]int {
		m := map[string]int{}
		for i := range n {
			m[from.AddDate(0, 0, i).Format(time.DateOnly)] = each
		}
		return m
	}
	g := func(each int) *group.Group {
		return &group.Group{First: day, Last: day.Add(20 * time.Hour), Count: each, Days: days(day, 1, each)}
	}
	week := day.AddDate(0, 0, -7)
	for _, c := range []struct {
		name string
		g    *group.Group
		k    *group.Known
		want group.State
	}{
		{"never seen", g(5), nil, group.New},
		{"as before", g(5), &group.Known{First: week, Last: day.Add(-time.Hour), Days: days(week, 7, 5)}, group.Standing},
		{"gone for a week", g(5), &group.Known{First: week, Last: week, Days: days(week, 1, 5)}, group.Regressed},
		{"gone for less", g(5), &group.Known{First: week, Last: week.Add(time.Minute), Days: days(week, 1, 5)}, group.Standing},
		{"closed, and back", g(5), &group.Known{First: week, Last: day.Add(-time.Hour), Closed: day}, group.Regressed},
		{"closed, and not back", g(5), &group.Known{First: week, Last: day, Closed: day.AddDate(0, 0, 1)}, group.Resolved},
		{"three times as often", g(15), &group.Known{First: week, Last: day.Add(-time.Hour), Days: days(week, 7, 5)}, group.Escalating},
		{"nearly three times", g(14), &group.Known{First: week, Last: day.Add(-time.Hour), Days: days(week, 7, 5)}, group.Standing},
		{"ten out of nothing", g(10), &group.Known{First: week, Last: day.Add(-time.Hour), Days: days(week, 1, 1)}, group.Escalating},
		{"few events", g(9), &group.Known{First: week, Last: day.Add(-time.Hour), Days: days(week, 7, 1)}, group.Standing},
		{"first seen today", g(99), &group.Known{First: day, Last: day.Add(time.Hour)}, group.Standing},
	} {
		if got := group.Of(c.g, c.k); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// What is remembered of an error does not depend on how often the same window was looked at, and holds four weeks.
func TestRemember(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []source.Event
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			all = append(all, source.Event{Class: "E", Time: day.Add(time.Duration(rapid.IntRange(-24*40, 24).Draw(t, "hour")) * time.Hour)})
		}
		g := group.Events(all, group.ByFingerprint)[0]
		once := group.Remember(g, nil)
		twice := group.Remember(g, once)
		if fmt.Sprint(once) != fmt.Sprint(twice) || !once.First.Equal(g.First) || !once.Last.Equal(g.Last) || len(once.Days) > 29 {
			t.Fatalf("%+v, then %+v", once, twice)
		}
	})
	g := &group.Group{First: day, Last: day, Days: map[string]int{}}
	if k := group.Remember(g, &group.Known{First: day.AddDate(0, 0, -9), Last: day.AddDate(0, 0, -9), Closed: day.AddDate(0, 0, -1), Found: &group.Found{Cause: "x"}}); !k.Closed.IsZero() || k.Found.Cause != "x" {
		t.Errorf("an error that is back is closed: %+v", k)
	}
}

// .4 frequency, .3 severity, .2 recency, .1 users; news first.
func TestRank(t *testing.T) {
	since, until := day, day.AddDate(0, 0, 1)
	often := &group.Group{Key: "often", Class: "TimeoutError", Count: 100, Last: since, State: group.New}
	grave := &group.Group{Key: "grave", Class: "panic", Count: 1, Last: until, Transaction: "POST /pay", State: group.New}
	slight := &group.Group{Key: "slight", Class: "NotFound", Count: 1, Last: since, State: group.New}
	known := &group.Group{Key: "known", Class: "panic", Count: 100, Last: until, Transaction: "GET /", State: group.Standing}
	back := &group.Group{Key: "back", Class: "NotFound", Count: 1, Last: since, State: group.Regressed}
	all := []*group.Group{known, slight, back, often, grave}
	group.Rank(all, since, until)
	var order []string
	for _, g := range all {
		order = append(order, g.Key)
	}
	if want := []string{"grave", "often", "slight", "back", "known"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
	for g, want := range map[*group.Group]float64{often: .4 + .3*.7, known: 1, slight: .4*.150191 + .3*.3, grave: .4*.150191 + .3 + .2 + .1} {
		if d := g.Rank - want; d > 1e-4 || d < -1e-4 {
			t.Errorf("%s: %.4f, want %.4f", g.Key, g.Rank, want)
		}
	}
}

func TestIgnore(t *testing.T) {
	list, err := group.ReadIgnored("ignore.yml", []byte("# crawlers\n- class: \"*RoutingError\"\n- class: \"Net::*\"\n  message: \"^execution expired\"\n  why: slow\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		e    source.Event
		want bool
	}{
		{source.Event{Class: "ActionController::RoutingError"}, true}, {source.Event{Class: "RoutingErrors"}, false}, {source.Event{Class: "Net::ReadTimeout", Message: "execution expired"}, true},
		{source.Event{Class: "Net::ReadTimeout", Message: "other"}, false}, {source.Event{}, false},
	} {
		if _, got := list.Ignores(&c.e); got != c.want {
			t.Errorf("%+v: %v", c.e, got)
		}
	}
	for want, src := range map[string]string{
		"i.yml:1: there must be a list": "class: x", "i.yml:2: ": "- class: a\n- klass: b", "i.yml:1: the rule names": "- why: x", "i.yml:1: message: ": "- message: \"(\"", "i.yml": "- {",
	} {
		if _, err := group.ReadIgnored("i.yml", []byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", src, err, want)
		}
	}
	if list, err := group.ReadIgnored("i.yml", nil); err != nil || len(list) != 0 {
		t.Errorf("an empty file: %v, %v", list, err)
	}
}

// Top three errors, three traces, stacks of 500 characters.
func TestTraces(t *testing.T) {
	var all []source.Event
	for i := range 12 {
		var frames []source.Frame
		for j := range 40 {
			frames = append(frames, source.Frame{File: fmt.Sprintf("/app/some/folder/file%d.py", j), Line: i % 5, Function: "function"})
		}
		all = append(all, source.Event{Time: day.Add(time.Duration(i) * time.Minute), Class: "E", Message: fmt.Sprint("message ", i%4), Frames: frames, Cause: &source.Event{Class: "OSError", Message: "disk full"}})
	}
	text := group.Events(all, group.ByTransaction)[0].Traces()
	if strings.Count(text, "- message") != 3 || strings.Count(text, "- /app") != 3 || !strings.Contains(text, "Caused by OSError: disk full") {
		t.Errorf("%s", text)
	}
	for l := range strings.Lines(text) {
		if n := len([]rune(strings.TrimPrefix(strings.TrimSpace(l), "- "))); n > 500 {
			t.Errorf("%d characters: %s", n, l)
		}
	}
	if text := group.Events(all[:1], group.ByTransaction)[0].Traces(); strings.Contains(text, "Messages") {
		t.Errorf("what is told already is told again: %s", text)
	}
}
