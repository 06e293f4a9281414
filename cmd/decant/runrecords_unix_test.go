//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/decantdev/decant/internal/process"
)

// answering returns what decant run has asked, and the settings that it has then, where somebody types an answer at a
// terminal; empty: nobody is there. home has the folder of the settings.
func answering(t *testing.T, home, typed string, environ ...string) (asked, settings string) {
	t.Helper()
	var shown bytes.Buffer
	s := &process.Process{In: strings.NewReader("y\n"), Out: &shown, Err: &shown, Environ: append([]string{"XDG_CONFIG_HOME=" + home}, environ...)}
	if typed != "" {
		ours, theirs, err := pty.Open()
		if err != nil {
			t.Skip("no pseudo-terminal:", err)
		}
		defer ours.Close()
		defer theirs.Close()
		if _, err := ours.WriteString(typed + "\n"); err != nil {
			t.Fatal(err)
		}
		s.In, s.Terminal = theirs, true
	}
	c := &runCmd{Command: []string{"true"}}
	if err := c.settle(s); err != nil {
		t.Fatal(err)
	}
	if c.Config == "" {
		return shown.String(), ""
	}
	data, err := os.ReadFile(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	return shown.String(), string(data)
}

// decant run asks once, in one sentence, whether a model may write records. A no stays a no; without a terminal nothing is
// asked, kept or spent.
func TestRunAsksOnceWhetherAModelMayWrite(t *testing.T) {
	for name, want := range map[string]string{"y": "use_client_credential: true", "n": "use_client_credential: false", " ": "use_client_credential: false"} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if asked, settings := answering(t, home, ""); asked != "" || settings != "" {
				t.Errorf("nobody is there: asked %q, settings %q", asked, settings)
			}
			asked, settings := answering(t, home, name)
			if strings.Count(asked, "?") != 1 || !strings.Contains(asked, "$0.25 a session and $1.00 a day") || !strings.Contains(settings, want) {
				t.Errorf("asked %q, settings %q", asked, settings)
			}
			if again, kept := answering(t, home, "y"); again != "" || kept != settings {
				t.Errorf("it asks again: %q, %q", again, kept)
			}
			if info, err := os.Stat(filepath.Join(home, "decant", "run.yaml")); err != nil || info.Mode().Perm() != 0o600 {
				t.Error(info, err)
			}
		})
	}
}

// Who has settings of a model, or none of a file of theirs, is not asked, and keeps what the file says.
func TestRunDoesNotAskWhereItIsSettled(t *testing.T) {
	home := t.TempDir()
	if asked, settings := answering(t, home, "y", "DECANT_SUMMARY_MODEL=off"); asked != "" || settings != "" {
		t.Errorf("asked %q, settings %q", asked, settings)
	}
	name := filepath.Join(home, "decant", "run.yaml")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, asks := range map[string]bool{"window: 50000 # mine\n": true, "summary: {model: 'off'}\n": false} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if asked, settings := answering(t, home, "n"); (asked != "") != asks || !strings.HasPrefix(settings, text) {
			t.Errorf("%q: asked %q, settings %q", text, asked, settings)
		}
	}
}

// The settings of a yes have the client's key pay for records, which are booked; those of a no have nobody asked.
func TestWhatAnAnswerIsWorth(t *testing.T) {
	for typed, asks := range map[string]bool{"y": true, "n": false} {
		t.Run(typed, func(t *testing.T) {
			_, settings := answering(t, t.TempDir(), typed)
			got := serveWith(t, settings)
			if (len(got.keys) > 0) != asks || (got.own.OwnCost > 0) != asks || got.own.OwnCost.USD() > sessionUSD {
				t.Errorf("asked %d times, %+v\n%s", len(got.keys), got.own, got.log)
			}
			for _, key := range got.keys {
				if key != clientKey {
					t.Errorf("asked with %q", key)
				}
			}
		})
	}
}
