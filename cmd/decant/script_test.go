package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/internal/testdepth"
	"github.com/decantdev/decant/wire"
)

func TestMain(m *testing.M) {
	tools.MainIfConfined() // the program starts itself to confine commands
	testdepth.Hide()
	testscript.Main(supplied{m}, map[string]func(){"decant": main, "fill": fill, "remember": remember, "notes-server": notesServer, "ops-server": opsServer})
}

// sampleDir is a folder for the repositories of the bundled sample: they are made once, and read by all tests that change nothing there.
var sampleDir string

// supplied runs tests that have a folder for what they share.
type supplied struct{ *testing.M }

func (s supplied) Run() int {
	dir, err := os.MkdirTemp("", "decant-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	sampleDir = dir
	return s.M.Run()
}

// Each script is a user at a terminal: commands, files, and what must come out.
func TestScripts(t *testing.T) {
	sessions, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"capture": capture, "original": original, "unpack": unpack, "services": targets},
		Setup: func(e *testscript.Env) error {
			e.Setenv("SESSIONS", sessions)
			e.Setenv("LOGS", filepath.Join(sessions, "..", "wire", "testdata", "logs"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			return os.MkdirAll(filepath.Join(e.WorkDir, "home"), 0o700)
		},
	})
}

// unpack writes a gzip file unpacked: unpack FROM TO.
func unpack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unpack FROM TO")
	}
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	src, err := wire.Read(f)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), src, 0o600))
}
