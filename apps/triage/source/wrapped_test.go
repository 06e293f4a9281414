package source

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// bare are logs of programs as they write them themselves, and what they tell.
var bare = []struct{ name, text, want string }{
	{"python", `2026-11-23 02:11:09,123 INFO shop.web started
2026-11-23 02:11:10,456 ERROR shop.api request failed
Traceback (most recent call last):
  File "/srv/app/shop/db.py", line 41, in fetch
    row = rows[order]
KeyError: 'order-9000'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app/shop/db.py", line 44, in fetch
    raise OrderMissing(order)
shop.errors.OrderMissing: order 9000 not found
2026-11-23 02:11:11,000 INFO shop.web next
`, "shop.errors.OrderMissing: order 9000 not found | */srv/app/shop/db.py:44 fetch <- KeyError: 'order-9000' | */srv/app/shop/db.py:41 fetch"},
	{"java", `2026-11-23 02:11:09.123 ERROR 1 --- [nio-8080-exec-1] c.a.OrderController : request failed
java.lang.IllegalStateException: cannot create order
	at com.acme.OrderService.create(OrderService.java:57)
Caused by: java.lang.NullPointerException: p is null
	at com.acme.Price.of(Price.java:12)
	... 42 more
2026-11-23 02:11:10.123  INFO 1 --- [main] c.a.Other : fine
`, "java.lang.IllegalStateException: cannot create order | *OrderService.java:57 com.acme.OrderService.create <- java.lang.NullPointerException: p is null | *Price.java:12 com.acme.Price.of"},
	{"go without times", `panic: runtime error: index out of range [5] with length 3

goroutine 34 [running]:
example.com/shop/orders.(*Service).Create(0xc000010000, {0x1, 0x2})
	/src/shop/orders/service.go:57 +0x1d
exit status 2
`, "runtime error: runtime error: index out of range [5] with length 3 | */src/shop/orders/service.go:57 example.com/shop/orders.(*Service).Create"},
	{"node without times", `server listens
TypeError: Cannot read properties of undefined (reading 'sum')
    at price (/srv/app/price.js:12:9)
    at async create (file:///srv/app/orders.mjs:40:3)
`, "TypeError: Cannot read properties of undefined (reading 'sum') | */srv/app/price.js:12 price | */srv/app/orders.mjs:40 create"},
	{"objects", `{"level":"info","ts":1795400000.5,"msg":"fine"}
{"level":"error","ts":1795400000.5,"msg":"cannot save","error":"EOF"}
`, ": cannot save: EOF"},
	{"objects without times", `{"level":"info","msg":"fine"}
{"level":"error","msg":"cannot save","error":"EOF"}
`, ": cannot save: EOF"},
}

// put is what a collector notes for the n-th line: those of one second are written at once.
func put(n int) time.Time {
	return time.Date(2026, 11, 23, 2, 11, 9, 123456789, time.UTC).Add(time.Duration(n) * 10 * time.Microsecond)
}

func object1(fields ...any) string {
	o := map[string]any{}
	for i := 0; i < len(fields); i += 2 {
		o[fields[i].(string)] = fields[i+1]
	}
	text, _ := json.Marshal(o)
	return string(text)
}

// wrappings are what stands around the lines of programs in production.
var wrappings = []struct {
	name string
	wrap func(n int, line string) string
}{
	{"nothing", func(_ int, line string) string { return line }},
	{"gh run view --log", func(n int, line string) string {
		return "build\tRun go test\t" + put(n).Format("2006-01-02T15:04:05.0000000Z") + " " + line
	}},
	{"Docker json-file", func(n int, line string) string {
		return object1("log", line+"\n", "stream", "stderr", "time", put(n).Format(time.RFC3339Nano))
	}},
	{"Docker json-file in pieces", func(n int, line string) string {
		at := put(n).Format(time.RFC3339Nano)
		return object1("log", line[:len(line)/2], "stream", "stderr", "time", at) + "\n" + object1("log", line[len(line)/2:]+"\n", "stream", "stderr", "time", at)
	}},
	{"Docker's fields without ends of lines", func(n int, line string) string {
		return object1("log", line, "stream", "stderr", "time", put(n).Format(time.RFC3339Nano))
	}},
	{"Google Cloud", func(n int, line string) string {
		return object1("textPayload", line, "severity", "INFO", "timestamp", put(n).Format(time.RFC3339Nano), "resource", map[string]any{"labels": map[string]any{"pod_name": "web-1"}})
	}},
	{"CRI", func(n int, line string) string {
		return put(n).Format("2006-01-02T15:04:05.000000000Z07:00") + " stderr F " + line
	}},
	{"CRI in pieces", func(n int, line string) string {
		at := put(n).Format("2006-01-02T15:04:05.000000000Z07:00")
		return at + " stderr P " + line[:len(line)/2] + "\n" + at + " stderr F " + line[len(line)/2:]
	}},
	{"docker compose logs", func(_ int, line string) string { return "shop-web-1  | " + line }},
	{"docker compose logs --timestamps", func(n int, line string) string {
		return "shop-web-1  | " + put(n).Format(time.RFC3339Nano) + " " + line
	}},
	{"docker service logs", func(_ int, line string) string { return "web.1.x3ti0erg11rj@node-1    | " + line }},
	{"foreman", func(_ int, line string) string { return "02:11:09 web.1  | " + line }},
	{"kubectl logs --prefix", func(_ int, line string) string { return "[pod/web-6f7c9-abcde/web] " + line }},
	{"kubectl logs --prefix --timestamps", func(n int, line string) string {
		return "[pod/web-6f7c9-abcde/web] " + put(n).Format(time.RFC3339Nano) + " " + line
	}},
	{"kubetail", func(_ int, line string) string { return "[web-6f7c9-abcde web] " + line }},
	{"stern", func(_ int, line string) string { return "web-6f7c9d8b5-abcde web " + line }},
	{"stern with a mark", func(_ int, line string) string { return "web-6f7c9d8b5-abcde › web " + line }},
	{"two processes", func(_ int, line string) string { return "[pid 71] " + line }},
	{"journalctl", func(_ int, line string) string { return "Nov 23 02:11:09 host shop[812]: " + line }},
	{"journalctl -o short-iso", func(_ int, line string) string { return "2026-11-23T02:11:09+0000 host shop[812]: " + line }},
	{"journalctl -o json", func(n int, line string) string {
		return object1("__REALTIME_TIMESTAMP", fmt.Sprint(put(n).UnixMicro()), "_PID", "812", "SYSLOG_IDENTIFIER", "shop", "PRIORITY", "6", "MESSAGE", line)
	}},
	{"syslog of RFC 3164", func(_ int, line string) string { return "<11>Nov 23 02:11:09 host shop[812]: " + line }},
	{"syslog of RFC 5424", func(n int, line string) string {
		return "<11>1 " + put(n).Format(time.RFC3339Nano) + ` host shop 812 - [a b="c"] ` + line
	}},
	{"Heroku", func(n int, line string) string {
		return put(n).Format("2006-01-02T15:04:05.000000-07:00") + " app[web.1]: " + line
	}},
	{"aws logs tail", func(n int, line string) string {
		return put(n).Format("2006-01-02T15:04:05.000000-07:00") + " ecs/shop/0a1b2c3d " + line
	}},
	{"Loki", func(n int, line string) string {
		return object1("labels", map[string]any{"pod": "web-1"}, "line", line, "timestamp", put(n).Format(time.RFC3339Nano))
	}},
	{"Fluent Bit", func(n int, line string) string {
		return object1("date", float64(put(n).UnixMicro())/1e6, "log", line, "kubernetes", map[string]any{"pod_name": "web-1"})
	}},
	{"colours", func(_ int, line string) string { return "\x1b[31m" + line + "\x1b[0m\r" }},
	{"colours in Docker", func(n int, line string) string {
		return object1("log", "\x1b[1;31m"+line+"\x1b[0m\r\n", "stream", "stdout", "time", put(n).Format(time.RFC3339Nano))
	}},
	{"Compose in colours around Docker's", func(n int, line string) string {
		return "\x1b[36mweb-1  | \x1b[0m" + object1("log", line+"\n", "stream", "stderr", "time", put(n).Format(time.RFC3339Nano))
	}},
}

// wrappedText wraps each line of a text.
func wrappedText(text string, wrap func(int, string) string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		b.WriteString(wrap(i, line) + "\n")
	}
	return b.String()
}

// What a container or a service manager writes around the lines of a program changes nothing of its errors.
func TestWrappingsAreTakenOff(t *testing.T) {
	for _, w := range wrappings {
		for _, log := range bare {
			t.Run(w.name+"/"+log.name, func(t *testing.T) {
				got := logged(t, wrappedText(log.text, w.wrap))
				if len(got) != 1 || short(got[0]) != log.want {
					t.Fatalf("%d events\n got %s\nwant %s", len(got), short(append(got, Event{})[0]), log.want)
				}
				if at := got[0].Time; at.Year() != 2026 || at.After(time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC)) {
					t.Errorf("time %v", at)
				}
			})
		}
	}
}

// Lines of containers and processes that run side by side are put together, each with its own.
func TestStreamsSideBySide(t *testing.T) {
	for _, w := range wrappings {
		one, two := wrappedText(bare[0].text, w.wrap), wrappedText(bare[1].text, w.wrap)
		rename := strings.NewReplacer("web", "api", "71]", "72]", "812", "813", "stderr", "stdout", "0a1b2c3d", "4e5f6a7b")
		if rename.Replace(one) == strings.ReplaceAll(one, "web", "api") {
			continue // nothing says where a line comes from
		}
		two = rename.Replace(two)
		var mixed strings.Builder
		a, b := strings.SplitAfter(one, "\n"), strings.SplitAfter(two, "\n")
		for i := range max(len(a), len(b)) {
			for _, lines := range [][]string{a, b} {
				if i < len(lines) {
					mixed.WriteString(lines[i])
				}
			}
		}
		var got []string
		for _, e := range logged(t, mixed.String()) {
			got = append(got, short(e))
		}
		slices.Sort(got)
		if want := []string{bare[1].want, bare[0].want}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q", w.name, got)
		}
	}
}

// Text may be in UTF-16, as PowerShell writes it, and may begin with a byte order mark.
func TestEncodings(t *testing.T) {
	text := "2026-11-23 02:11:10 ERROR no order for 😀 and é\n"
	encoded := func(order binary.AppendByteOrder, mark string) string {
		out := []byte(mark)
		for _, u := range utf16.Encode([]rune(text)) {
			out = order.AppendUint16(out, u)
		}
		return string(out)
	}
	for name, in := range map[string]string{"UTF-8": text, "UTF-8 with a mark": "\ufeff" + text,
		"UTF-16LE": encoded(binary.LittleEndian, "\xff\xfe"), "UTF-16BE": encoded(binary.BigEndian, "\xfe\xff"),
		"UTF-16LE without a mark": encoded(binary.LittleEndian, ""), "UTF-16BE without a mark": encoded(binary.BigEndian, ""),
		"half a letter at the end": encoded(binary.LittleEndian, "\xff\xfe") + "x"} {
		got := logged(t, in)
		if len(got) != 1 || got[0].Message != "no order for 😀 and é" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A file with text that is no log says so; one whose program had no errors does not.
func TestTextThatIsNoLog(t *testing.T) {
	for text, want := range map[string]bool{
		"a shopping list\nmilk\nbread\n": true, "\x00\x01binary\x02\n": true, `{"a":1}` + "\n" + `{"a":2}` + "\n": true,
		"": false, "\n \n": false, "2026-11-23 02:11:10 INFO fine\n": false, "INFO fine\n": false, `{"level":"info","msg":"fine"}` + "\n": false,
		`{"log":"hello\n","stream":"stdout","time":"2026-11-23T02:11:09Z"}` + "\n": false,
	} {
		var fault error
		events := 0
		readAll(t.Context(), "app.log", time.Time{}, strings.NewReader(text), logLines, func(_ Event, err error) bool {
			if fault = err; err == nil {
				events++
			}
			return true
		})
		var line *LineError
		if got := errors.As(fault, &line) && line.File == "app.log" && line.Line == 1; got != want || events != 0 {
			t.Errorf("%q: %d events, %v", text, events, fault)
		}
	}
}

// What looks like a prefix but is before one line alone belongs to the text.
func TestWordsAreNoPrefixes(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-23 02:11:10 ERROR total | wrong\n":                         ": total | wrong",
		"ERROR | cannot save\nERROR | cannot load\n":                        ": cannot save",
		"[main] ERROR com.acme.Orders - cannot save\n":                      ": cannot save",
		"2026-11-23 02:11:10.5 | ERROR    | shop.api:fetch:12 - no order\n": ": shop.api:fetch:12 - no order",
	} {
		if got := logged(t, text); len(got) == 0 || short(got[0]) != want {
			t.Errorf("%q: %s", text, short(append(got, Event{})[0]))
		}
	}
}

// Collectors note the rank of a message: one of an error is an event whatever its text, but where the program says itself
// that it is none.
func TestRanksOfCollectors(t *testing.T) {
	journald := func(rank, text string) string {
		return object1("__REALTIME_TIMESTAMP", "1795400000000000", "_PID", "7", "PRIORITY", rank, "MESSAGE", text) + "\n"
	}
	cloud := func(rank, text string) string {
		return object1("timestamp", "2026-11-23T02:11:09Z", "severity", rank, "textPayload", text) + "\n"
	}
	for name, text := range map[string]string{
		"journald":     journald("6", "started") + journald("3", "disk is full") + journald("4", "slow") + journald("3", "INFO fine"),
		"Google Cloud": cloud("DEFAULT", "started") + cloud("ERROR", "disk is full") + cloud("WARNING", "slow") + cloud("ERROR", "INFO fine"),
	} {
		got := logged(t, text)
		if len(got) != 1 || got[0].Message != "disk is full" || got[0].Time.Year() != 2026 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
