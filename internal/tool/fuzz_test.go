package tool_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/tool"
)

func quote(s string) string {
	out, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return `""`
	}
	return string(out)
}

func itoa(n int) string { return strconv.Itoa(n) }

// FuzzParse guards that no arguments make Parse panic or hang, and that keys are clean.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"cmd":"cat a | head -3"}`, `{"command":["bash","-lc","ls"]}`, `{"path":"a","view_range":[1,2]}`, "*** Begin Patch\n*** Add File: x\n",
		`{"cmd":"cat <<EOF\nx`, `{"cmd":"a 'b \"c $(d`, `{"a":[{"b":"}`, `{"\ud800":1`, "cat > x << 'E'\n", "nl a | sed -n '3p' | tail -n +2"} {
		f.Add("Bash", s)
		f.Add("edit", s)
	}
	f.Fuzz(func(t *testing.T, name, args string) {
		for _, n := range []string{name, "Bash", "Read"} {
			for _, file := range tool.Parse(n, args).Files {
				if strings.Contains(file.Key, "/./") || strings.HasSuffix(file.Key, "/") && file.Key != "/" && file.Key != "//" {
					t.Errorf("Parse(%q, %q): key %q is not clean", n, args, file.Key)
				}
			}
		}
		tool.Parse("Bash", `{"command":`+quote(args)+`}`)
	})
}

// FuzzOutcome guards that no text makes OutcomeOf panic and that its strings stay whole runes.
func FuzzOutcome(f *testing.F) {
	for _, s := range []string{"Exit code 1\nerror: x", "Chunk ID: 1\nOutput:\n", "3 failed, 1 passed", "✗",
		"Exit code ", "(fail) ✗ [", "x\nCommand exited with code 9", "日本語 error: 失敗"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	c := tool.Parse("Bash", `{"command":"go test"}`)
	f.Fuzz(func(t *testing.T, text string, isError bool) {
		o := tool.OutcomeOf(c, text, isError)
		if o.Bytes > len(text) || o.Lines > len(text) || o.Passed < 0 || o.Failed < 0 {
			t.Errorf("%q: impossible outcome %+v", text, o)
		}
		if utf8.ValidString(text) && !utf8.ValidString(o.FirstError+strings.Join(o.Failing, "")) {
			t.Errorf("%q: a rune was split: %+v", text, o)
		}
		if !strings.Contains(text, tool.Body(text)) {
			t.Errorf("%q: body %q is no part of it", text, tool.Body(text))
		}
	})
}

func BenchmarkParseShell(b *testing.B) {
	args := `{"cmd":"cd /w && sed -n '1,260p' packages/core/src/evaluation/orchestrator.ts && rg -n \"foo|bar\" packages | head -50","workdir":"/w","yield_time_ms":30000}`
	b.SetBytes(int64(len(args)))
	b.ReportAllocs()
	for b.Loop() {
		tool.Parse("exec_command", args)
	}
}

func BenchmarkParseEdit(b *testing.B) {
	args := `{"file_path":"/w/a.go","old_string":` + quote(strings.Repeat("\tline of \"code\"\n", 100)) + `,"new_string":"x"}`
	b.SetBytes(int64(len(args)))
	b.ReportAllocs()
	for b.Loop() {
		tool.Parse("Edit", args)
	}
}

func BenchmarkOutcome(b *testing.B) {
	c := tool.Parse("Bash", `{"command":"go test ./..."}`)
	text := strings.Repeat("ok  \tgithub.com/x/y/z\t0.123s\n    some ordinary line of a build log, with words\n", 200)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		tool.OutcomeOf(c, text, false)
	}
}
