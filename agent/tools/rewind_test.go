//go:build unix

package tools_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/agent/tools"
)

// Changes are taken back by their calls, also by another process, and the taking back can be taken back.
func TestRewind(t *testing.T) {
	o := quiet
	o.Dir, o.Keep = t.TempDir(), t.TempDir()
	b := newBench(t, o)
	b.put("a", "1\n")
	if err := os.Chmod(filepath.Join(b.dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.try("read", args{"file_path": "a"})
	b.has(b.tryAs("c1", "edit", args{"file_path": "a", "old_string": "1", "new_string": "2"}), "Changed")
	b.has(b.tryAs("c2", "edit", args{"file_path": "a", "old_string": "2", "new_string": "3"}), "Changed")
	b.has(b.tryAs("c3", "write", args{"file_path": "new/b", "content": "x"}), "is made")

	other := newBench(t, o) // as after a restart
	if _, err := other.set.Rewind("c1"); !errors.Is(err, tools.ErrChanged) {
		t.Errorf("a change under another one: %v", err)
	}
	r, err := other.set.Rewind("c2", "c3", "toolu_unknown")
	if err != nil || !slices.Equal(r.Files, []string{"a", "new/b"}) {
		t.Fatalf("%+v, %v", r, err)
	}
	b.is("a", "2\n")
	if _, err := os.Stat(filepath.Join(b.dir, "new/b")); err == nil {
		t.Error("new/b is still there")
	}
	if again, err := other.set.Rewind("c2", "c3"); err != nil || len(again.Files) != 0 {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	if _, err := other.set.Rewind(r.ID); err != nil {
		t.Fatal(err)
	}
	b.is("a", "3\n")
	b.is("new/b", "x")
	if _, err := other.set.Rewind("c1", "c2", "c3"); err != nil {
		t.Fatal(err)
	}
	b.is("a", "1\n")
	if info, err := os.Stat(filepath.Join(b.dir, "a")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
	b.has(other.try("edit", args{"file_path": "a", "old_string": "1", "new_string": "4"}), "Changed") // what it is after a rewind is known
}

// What is kept goes from session to session, is copied for a fork, and has a limit: what was kept first goes first.
func TestKeepIn(t *testing.T) {
	o := quiet
	o.Dir, o.MostKept = t.TempDir(), 1000
	one, two, fork := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two"), filepath.Join(t.TempDir(), "fork")
	b := newBench(t, o)
	in := func(dir string) {
		t.Helper()
		if err := b.set.KeepIn(dir); err != nil {
			t.Fatal(err)
		}
	}
	in(one)
	if _, err := os.Stat(one); err == nil {
		t.Error("a folder was made for nothing")
	}
	b.tryAs("c1", "write", args{"file_path": "a", "content": "1"})
	in(two)
	b.has(b.tryAs("c2", "write", args{"file_path": "a", "content": "2"}), "error: ", "was not read")
	if r, err := b.set.Rewind("c1"); err != nil || len(r.Files) != 0 {
		t.Errorf("a call of another session: %+v, %v", r, err)
	}
	in(one)
	b.has(b.tryAs("c2", "write", args{"file_path": "a", "content": strings.Repeat("2", 600)}), "Changed")
	b.has(b.tryAs("c3", "write", args{"file_path": "a", "content": strings.Repeat("3", 600)}), "Changed")
	if err := tools.CopyKept(one, fork); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(one); err != nil {
		t.Fatal(err)
	}
	in(fork)
	if _, err := b.set.Rewind("c3"); err != nil {
		t.Fatal(err)
	}
	b.is("a", strings.Repeat("2", 600))
	if _, err := b.set.Rewind("c2"); err == nil || !strings.Contains(err.Error(), "no longer kept") {
		t.Errorf("what was too much: %v", err)
	}
	b.is("a", strings.Repeat("2", 600))
	if err := tools.CopyKept(one, two); err != nil {
		t.Errorf("a session that has changed nothing: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(one, "log.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := b.set.KeepIn(one); err == nil {
		t.Error("a folder that cannot be read")
	}
	b.has(b.tryAs("c4", "write", args{"file_path": "new", "content": "x"}), "error: ", "not kept")
}

// What somebody else has made of a file is not lost: then nothing is taken back at all.
func TestRewindKeepsWhatOthersWrote(t *testing.T) {
	b := newBench(t, quiet)
	b.tryAs("c1", "write", args{"file_path": "a", "content": "1"})
	b.tryAs("c1", "write", args{"file_path": "b", "content": "1"})
	b.put("b", "by somebody else")
	_, err := b.set.Rewind("c1")
	if !errors.Is(err, tools.ErrChanged) || !strings.HasSuffix(err.Error(), ": b") {
		t.Errorf("%v", err)
	}
	b.is("a", "1")
	b.is("b", "by somebody else")
}

// A log whose last line was not written to its end, and a file kept that was damaged.
func TestADamagedKeep(t *testing.T) {
	o := quiet
	o.Dir, o.Keep = t.TempDir(), t.TempDir()
	b := newBench(t, o)
	b.put("a", "1")
	b.try("read", args{"file_path": "a"})
	b.tryAs("c1", "write", args{"file_path": "a", "content": "2"})
	log := filepath.Join(o.Keep, "log.jsonl")
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"path":"a","call":"c2","bef`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	other := newBench(t, o)
	other.tryAs("c3", "write", args{"file_path": "a", "content": "3"})
	if _, err := newBench(t, o).set.Rewind("c3"); err != nil {
		t.Fatal(err)
	}
	b.is("a", "2")
	kept, err := filepath.Glob(filepath.Join(o.Keep, "files", "*"))
	if err != nil || len(kept) == 0 {
		t.Fatal(kept, err)
	}
	for _, k := range kept {
		if err := os.WriteFile(k, []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := newBench(t, o).set.Rewind("c1"); err == nil || !strings.Contains(err.Error(), "is not what was kept of a") {
		t.Errorf("%v", err)
	}
	b.is("a", "2")
}

// Whatever was written, going back to a moment gives the files of that moment.
func TestRewindGoesBackToAnyMoment(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			r.Fatal(err)
		}
		o := quiet
		o.Dir = dir
		s, err := tools.New(o)
		if err != nil {
			r.Fatal(err)
		}
		defer s.Close()
		b := &bench{T: t, set: s, dir: dir}
		state := map[string]string{}
		moments := []map[string]string{maps.Clone(state)} // before each call
		var calls []string
		made := 0
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			if len(calls) > 0 && rapid.IntRange(0, 3).Draw(r, "rewind") == 0 {
				to := rapid.IntRange(0, len(calls)-1).Draw(r, "to")
				if _, err := s.Rewind(calls[to:]...); err != nil {
					r.Fatalf("back to %d of %q: %v", to, calls, err)
				}
				state, calls, moments = maps.Clone(moments[to]), calls[:to], moments[:to+1]
			} else {
				name := rapid.SampledFrom([]string{"a", "b", "d/c"}).Draw(r, "name")
				text := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(r, "text")
				call := fmt.Sprintf("call %d", made)
				made++
				if got := b.tryAs(call, "write", args{"file_path": name, "content": text}); strings.HasPrefix(got, "error: ") {
					r.Fatal(got)
				}
				state[name] = text
				calls, moments = append(calls, call), append(moments, maps.Clone(state))
			}
			same(r, dir, state)
		}
	})
}

// same says that a folder has files and no others.
func same(t *rapid.T, dir string, want map[string]string) {
	got := map[string]string{}
	for _, name := range []string{"a", "b", "d/c"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			got[name] = string(b)
		}
	}
	if !maps.Equal(got, want) {
		t.Fatalf("the files are %q, want %q", got, want)
	}
}
