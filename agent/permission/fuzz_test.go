package permission_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/permission"
)

// A rule that is read is written as it is read.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"read", "bash(git diff:*)", "bash(git commit -m 'a b')", "edit(src/**)", "fetch(domain:*.example.com)", "mcp__a__*", "bash(", "a b", "edit([)", "bash($x)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := permission.Parse(text)
		if err != nil {
			return
		}
		again, err := permission.Parse(r.String())
		if err != nil || again.String() != r.String() {
			t.Errorf("%q is read as %q, and that as %q, %v", text, r, again, err)
		}
	})
}

// What rules allow runs nothing else: an interpreter of the shell runs the line, with each command stopped before it acts, and every
// command that comes must be one of those that the rules name, and no file but /dev/null is opened.
func FuzzAllowedLine(f *testing.F) {
	for _, s := range []string{
		"git diff && ls", "git diff $(ls) `ls`", "git diff 2>&1 >/dev/null | ls", "ls <<X\n$(ls)\nX", "git diff; rm x", "git diff > x", "x=1 git diff",
		"git diff <(rm)", "git() { rm; }; git diff", "'git' diff \"$x\" ${y}", "{ ls; }&(ls)", "ls ${x:-$(rm)}", "git diff\\\n;rm", "ls #\nrm", "$x git diff",
		"ls $((x=1))", "! ls || ls", "eval rm", "ls {a,b} ~ *", "time ls", "ls 1>&2 </dev/null", "unset x", "ls $'a'", "[[ a ]]", "git {diff,x}",
	} {
		f.Add(s)
	}
	g := guard(f, permission.Options{Rules: rules(f, "allow bash(git diff:*)", "allow bash(ls:*)")})
	f.Fuzz(func(t *testing.T, src string) {
		if !utf8.ValidString(src) {
			t.Skip("no call has such a line")
		}
		if strings.Contains(src, "..") {
			t.Skip("the interpreter writes {1..9999999} out")
		}
		if v := g.Permit(t.Context(), asks("bash"), bash(t, src)); v.Kind != agent.Allow {
			return
		}
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
		if err != nil {
			t.Fatalf("%q is allowed and cannot be parsed: %v", src, err)
		}
		interpret(t, src, file)
	})
}

// A closed is a file without content.
type closed struct{}

func (closed) Read([]byte) (int, error)    { return 0, io.EOF }
func (closed) Write(p []byte) (int, error) { return len(p), nil }
func (closed) Close() error                { return nil }

func interpret(t *testing.T, src string, file *syntax.File) {
	t.Helper()
	dir := t.TempDir()
	r, err := interp.New(interp.Dir(dir), interp.StdIO(nil, io.Discard, io.Discard), interp.Env(expand.ListEnviron("x=-a b", "HOME="+dir)),
		interp.CallHandler(func(_ context.Context, args []string) ([]string, error) {
			if args[0] != "ls" && (args[0] != "git" || len(args) < 2 || args[1] != "diff") {
				t.Errorf("%q is allowed and runs %q", src, args)
			}
			return []string{"true"}, nil
		}),
		interp.OpenHandler(func(_ context.Context, path string, _ int, _ os.FileMode) (io.ReadWriteCloser, error) {
			if path != "/dev/null" {
				t.Errorf("%q is allowed and opens %q", src, path)
			}
			return closed{}, nil
		}),
		interp.ReadDirHandler2(func(context.Context, string) ([]fs.DirEntry, error) { return nil, fs.ErrNotExist }))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := r.Run(ctx, file); errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%q does not end", src)
	}
}
