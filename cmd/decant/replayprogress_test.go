package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/decantdev/decant/internal/process"
)

// A replay of a real folder was silent for minutes. On a terminal one line says how far it is, from the
// first second on; what was done of a file under way counts.
func TestCountdown(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 999), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		c := newCountdown(&process.Process{Err: &out, Terminal: true}, files, 4)
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		c.step(0)
		time.Sleep(time.Second)
		synctest.Wait()
		for range 9 { // more than it has
			c.step(0)
		}
		c.done(0)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		c.done(1)
		c.end()
		want := []string{
			"played 0 of 2 sessions in 1 s", "played 0 of 2 sessions in 2 s, about 14 s left",
			"played 1 of 2 sessions in 3 s, about 3 s left", "played 1 of 2 sessions in 4 s, about 4 s left", "",
		}
		got := strings.Split(strings.TrimPrefix(strings.ReplaceAll(out.String(), "\x1b[K", ""), "\r"), "\r")
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestCountdownIsSilentWhereNobodyWatches(t *testing.T) {
	var out bytes.Buffer
	c := newCountdown(&process.Process{Err: &out}, []string{"no such file"}, 1)
	c.step(0)
	c.done(0)
	c.end()
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
}
