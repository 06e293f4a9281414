package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/decantdev/decant/agent/tools"

	"github.com/decantdev/decant/wire"
)

func TestMain(m *testing.M) {
	tools.MainIfConfined() // the program starts itself to confine commands
	testscript.Main(m, map[string]func(){"decant": main, "fill": fill, "remember": remember, "notes-server": notesServer, "ops-server": opsServer})
}

// beside is a line of a script that goes on while its command runs.
var beside = regexp.MustCompile(`(?m) &(?:\w+&)?$`)

// scripts returns the scripts that are run: with -short, as with the race detector, those in which commands run beside others. What the others
// start are whole processes, one after the other, and most of their time goes into that.
func scripts(t *testing.T) (files []string) {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !testing.Short() || beside.Match(text) {
			files = append(files, name)
		}
	}
	return files
}

// Each script is a user at a terminal: commands, files, and what must come out.
func TestScripts(t *testing.T) {
	sessions, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: scripts(t),
		Cmds:  map[string]func(*testscript.TestScript, bool, []string){"capture": capture, "original": original, "unpack": unpack, "services": targets},
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
