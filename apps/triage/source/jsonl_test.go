package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// readLine reads one line; an empty one tells of no error.
func readLine(line []byte) (e Event, err error) {
	err = errLevel
	readAll(context.Background(), "", time.Time{}, bytes.NewReader(line), objectLines, func(got Event, fault error) bool {
		e, err = got, fault
		return true
	})
	return e, err
}

func TestLinesOfLoggers(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"own form", `{"time":"2026-11-23T02:11:09Z","class":"KeyError","message":"no sum","service":"shop","release":"v1","frames":[{"file":"a.py","line":3,"function":"f","in_app":true}],"cause":{"class":"IOError","message":"gone"}}`,
			"KeyError: no sum | *a.py:3 f <- IOError: gone"},
		{"zap", `{"level":"error","ts":1795400000.12,"caller":"a/b.go:1","msg":"cannot save","error":"EOF","stacktrace":"main.save\n\t/src/main.go:12\nmain.main\n\t/src/main.go:3"}`,
			": cannot save: EOF | */src/main.go:12 main.save | */src/main.go:3 main.main"},
		{"slog", `{"time":"2026-11-23T02:11:09.1Z","level":"ERROR","msg":"cannot save","err":"EOF","order":7}`, ": cannot save: EOF"},
		{"slog between levels", `{"time":"2026-11-23T02:11:09.1Z","level":"ERROR+2","msg":"worse"}`, ": worse"},
		{"logrus", `{"level":"fatal","msg":"cannot start","time":"2026-11-23T02:11:09Z"}`, ": cannot start"},
		{"pino", `{"level":50,"time":1795400000123,"pid":1,"err":{"type":"TypeError","message":"x is undefined","stack":"TypeError: x is undefined\n    at f (/srv/a.js:1:2)"},"msg":"request failed"}`,
			"TypeError: request failed: x is undefined | */srv/a.js:1 f"},
		{"python", `{"asctime":"2026-11-23 02:11:09,123","levelname":"ERROR","name":"app","message":"failed","exc_info":"Traceback (most recent call last):\n  File \"/srv/a.py\", line 2, in f\n    g()\nValueError: no"}`,
			"ValueError: failed: no | */srv/a.py:2 f"},
		{"ecs", `{"@timestamp":"2026-11-23T02:11:09Z","log":{"level":"ERROR"},"message":"failed","error":{"type":"java.io.IOException","message":"closed","stack_trace":"java.io.IOException: closed\n\tat a.B.c(B.java:4)"},"service":{"name":"shop","version":"1.2"}}`,
			"java.io.IOException: failed: closed | *B.java:4 a.B.c"},
		{"flat ecs", `{"@timestamp":"2026-11-23T02:11:09Z","log.level":"ERROR","error.type":"E","error.message":"closed"}`, "E: closed"},
		{"info", `{"time":"2026-11-23T02:11:09Z","level":"info","msg":"fine"}`, ""},
		{"pino info", `{"level":30,"time":1795400000123,"msg":"fine"}`, ""},
		{"empty", "  ", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, err := readLine([]byte(test.line))
			if test.want == "" {
				if !errors.Is(err, errLevel) {
					t.Errorf("got %+v, %v", e, err)
				}
				return
			}
			if err != nil || short(e) != test.want || e.Time.Year() != 2026 {
				t.Errorf("%v, %v\n got %s\nwant %s", e.Time, err, short(e), test.want)
			}
		})
	}
}

func TestBadLinesNameTheirNumber(t *testing.T) {
	file := filepath.Join(t.TempDir(), "e.jsonl")
	text := `{"time":"2026-11-23T02:11:09Z","message":"a"}
not json
{"message":"no time"}
{"time":"yesterday","message":"b"}
{"time":"2026-11-23T02:11:09Z"}
{"time":"2026-11-23T02:11:09Z","class":"E","frames":"text"}
{"time":"2026-11-23T02:11:09Z","message":"c"} {}
{"time":"2026-11-23T02:11:09Z","message":"` + strings.Repeat("x", mostLine) + `"}
{"time":"2026-11-23T02:11:09Z","message":"last"}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	for e, err := range (&JSONL{Files: []string{file}}).Events(t.Context(), Window{}) {
		switch l, ok := errors.AsType[*LineError](err); {
		case ok && l.File == file:
			got = append(got, string(rune('0'+l.Line)))
		case err != nil:
			t.Error(err)
		default:
			got = append(got, e.Message)
		}
	}
	if strings.Join(got, " ") != "a 2 3 4 5 6 7 8 last" {
		t.Errorf("got %q", got)
	}
}

func TestAttributes(t *testing.T) {
	e, err := readLine([]byte(`{"time":"2026-11-23T02:11:09Z","level":"error","msg":"m","user":"u","n":7,"ok":true,"url":"/x","deep":{"a":1}}`))
	if err != nil || len(e.Attributes) != 4 || e.Attributes["n"] != "7" || e.Attributes["url"] != "/x" || e.URL != "" {
		t.Errorf("got %+v, %v", e, err)
	}
}

// What programs have printed can be taken out of an error, wherever in it they are.
func TestUnprinted(t *testing.T) {
	run := func(script string) error {
		for _, err := range (&Command{Args: []string{"sh", "-c", script}}).Events(t.Context(), Window{}) {
			return err
		}
		return nil
	}
	one, two := run("echo plans: of one >&2; exit 3"), run("echo more >&2; echo of two >&2; exit 4")
	err := fmt.Errorf("sources: %w", errors.Join(errors.New("other: of mine"), fmt.Errorf("first: %w", one), two))
	if got, want := Unprinted(err), "sources: other: of mine\nfirst: run command sh: exit status 3\nrun command sh: exit status 4"; got != want || !strings.Contains(err.Error(), "plans: of one") {
		t.Errorf("%q of %q, want %q", got, err, want)
	}
	if err := run("exit 5"); Unprinted(err) != "run command sh: exit status 5" {
		t.Errorf("without a word: %q", Unprinted(err))
	}
}

func TestCommand(t *testing.T) {
	day := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	in := Window{day, day.Add(24 * time.Hour)}
	run := func(script string, timeout time.Duration) (out []string) {
		c := &Command{Args: []string{"sh", "-c", script}, Timeout: timeout}
		for e, err := range c.Events(t.Context(), in) {
			if err != nil {
				out = append(out, "error "+err.Error())
				continue
			}
			out = append(out, e.Message)
		}
		return out
	}
	print := `printf '{"time":"%s","message":"a"}\n{"time":"2026-11-25T00:00:00Z","message":"later"}\n' "$DECANT_SINCE"`
	if got := run(print, 0); len(got) != 1 || got[0] != "a" {
		t.Errorf("got %q", got)
	}
	if got := run(print+`; echo "password=hunter2hunter" >&2; exit 3`, 0); len(got) != 2 || !strings.Contains(got[1], "exit status 3") || strings.Contains(got[1], "hunter2") {
		t.Errorf("got %q", got)
	}
	if got := run(print+"; exec sleep 1000", 200*time.Millisecond); len(got) == 0 || !strings.Contains(got[len(got)-1], "has not ended") { // what it prints may come too late
		t.Errorf("got %q", got)
	}
	for range (&Command{Args: []string{"sh", "-c", "while :; do " + print + "; done"}}).Events(t.Context(), in) {
		break // the program is ended
	}
	if err := (&Command{Args: []string{"no-such-program-here"}}).Check(t.Context()); err == nil {
		t.Error("no error")
	}
}

func FuzzJSONL(f *testing.F) {
	f.Add(`{"time":"2026-11-23T02:11:09Z","class":"E","frames":[{"file":"a","line":1}],"cause":{"cause":{}}}`)
	f.Add(`{"level":50,"time":1e300,"err":{"stack":["a","b"]},"service":{"name":1}}`)
	f.Fuzz(func(t *testing.T, line string) {
		e, err := readLine([]byte(line))
		checkEvent(t, e, err)
	})
}

var _ = []Source{(*JSONL)(nil), (*Log)(nil), (*Command)(nil)}
