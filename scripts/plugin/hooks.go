package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// hooked runs the hooks as Claude Code does, also with what is no event and without a database.
func hooked(s *stage) (string, error) {
	var out []string
	for _, event := range []string{"SessionStart", "PreCompact", "TaskCompleted", "SessionEnd"} {
		var took []time.Duration
		worked := time.Duration(0)
		for range 21 {
			d, cpu, err := s.hook(event, s.db(), fmt.Sprintf(`{"session_id":"s","transcript_path":%q,"cwd":%q,"hook_event_name":%q}`, filepath.Join(s.work, "none"), s.project(), event))
			if err != nil {
				return "", err
			}
			took, worked = append(took, d), worked+cpu
		}
		slices.Sort(took)
		out = append(out, fmt.Sprintf("%s %d ms (most %d, processor %d)", event, took[len(took)/2].Milliseconds(), took[len(took)-1].Milliseconds(), worked.Milliseconds()/int64(len(took))))
		for _, in := range []string{"", "{", "[]", `{"cwd":7}`} {
			if _, _, err := s.hook(event, filepath.Join(s.work, "none.db"), in); err != nil {
				return "", err
			}
		}
	}
	return strings.Join(out, ", ") + "; exit status 0 whatever fails", nil
}

// hook runs a hook and returns how long it took, and how much of that it worked: the rest it waits where the machine is busy.
func (s *stage) hook(event, db, in string) (took, worked time.Duration, err error) {
	c := exec.Command(filepath.Join(s.work, "bin", "decant"), "notebook", "hook", event, "--db", db)
	c.Stdin = strings.NewReader(in)
	var said bytes.Buffer
	c.Stderr = &said
	began := time.Now()
	if err := c.Run(); err != nil {
		return 0, 0, fmt.Errorf("hook %s with %q: %w: %s", event, in, err, said.String())
	}
	return time.Since(began), c.ProcessState.UserTime() + c.ProcessState.SystemTime(), nil
}
