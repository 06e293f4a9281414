package main

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/testing/testkit"
	"github.com/decantdev/decant/wire"
)

func TestMain(m *testing.M) {
	tools.MainIfConfined() // the program starts itself to confine commands
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "decant" {
		main() // the test's own program plays the command
	}
	testkit.HideDepth()
	testscript.Main(supplied{m}, map[string]func(){"notes-server": notesServer, "ops-server": opsServer})
}

// garbage is how much garbage there may be, in percent: the heaps of tests are small, and collecting is a quarter of their time.
const garbage = 400

// sharedDir is a folder for what tests share and do not change: as the user's cache it holds sampleDir, with the repositories of the bundled
// sample, which are made once.
var sharedDir, sampleDir string

// supplied runs tests that have a folder for what they share.
type supplied struct{ *testing.M }

func (s supplied) Run() int {
	dir, err := os.MkdirTemp("", "decant-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	sharedDir, sampleDir = dir, filepath.Join(dir, "decant", "samples")
	if err := install(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	debug.SetGCPercent(garbage)
	os.Setenv("GOGC", strconv.Itoa(garbage)) // of the processes that tests start
	time.Local = time.UTC                    // which scripts ask for: a process has one zone
	return s.M.Run()
}

// install puts the program where shells find it, beside what testscript has put there. To testscript it is none of its programs: a script that
// says decant does not start it, one that says exec decant does.
func install() error {
	server, err := exec.LookPath("notes-server")
	if err != nil {
		return err
	}
	return os.Link(server, filepath.Join(filepath.Dir(server), "decant"+filepath.Ext(server)))
}

// Each script is a user at a terminal: commands, files, and what must come out.
func TestScripts(t *testing.T) {
	sessions, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	names, err := variables("testdata/script")
	if err != nil {
		t.Fatal(err)
	}
	h := &here{names: names}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"capture": capture, "kept": playKept, "original": original, "unpack": unpack, "services": targets,
			"decant": h.decant, "fill": helper("fill", h.fill), "remember": helper("remember", remember),
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("SESSIONS", sessions)
			e.Setenv("LOGS", filepath.Join(sessions, "..", "wire", "testdata", "logs"))
			e.Setenv("GOGC", strconv.Itoa(garbage))
			e.Setenv("XDG_CACHE_HOME", sharedDir)
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			return os.MkdirAll(filepath.Join(e.WorkDir, "home"), 0o700)
		},
	})
}

// unpack writes a gzip file unpacked, or its first lines: unpack [-lines N] FROM TO.
func unpack(ts *testscript.TestScript, neg bool, args []string) {
	flags := flag.NewFlagSet("unpack", flag.ContinueOnError)
	most := flags.Int("lines", math.MaxInt, "")
	if err := flags.Parse(args); err != nil || neg || flags.NArg() != 2 {
		ts.Fatalf("usage: unpack [-lines N] FROM TO")
	}
	f, err := os.Open(ts.MkAbs(flags.Arg(0)))
	ts.Check(err)
	defer f.Close()
	src, err := wire.Read(f)
	ts.Check(err)
	var out []byte
	for line := range bytes.Lines(src) {
		if *most--; *most < 0 {
			break
		}
		out = append(out, line...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(flags.Arg(1)), out, 0o600))
}
