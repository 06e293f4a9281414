package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
)

// cleared talks with Claude Code at a terminal, clears the conversation, and looks at the request that comes next.
func cleared(s *stage) (string, error) {
	if err := s.onboarded(); err != nil {
		return "", err
	}
	log, err := os.Create(filepath.Join(s.work, "terminal.log"))
	if err != nil {
		return "", err
	}
	defer log.Close()
	c := s.client("--model", "claude-sonnet-4-5")
	file, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		return "", err
	}
	defer func() { c.Process.Kill(); c.Wait(); file.Close() }()
	t := &terminal{keys: file}
	go io.Copy(io.MultiWriter(t, log), file)
	before := len(s.model.requests())
	for i, text := range []string{"Say hello to the orchids.", "/clear", "Say hello to the tulips."} {
		if err := t.enters(text); err != nil {
			return "", err
		}
		want := before + []int{1, 1, 2}[i]
		if !patiently(func() bool { return len(s.model.requests()) >= want }) {
			return "", fmt.Errorf("no request came after %q was typed; terminal.log has what was shown", text)
		}
	}
	rs := s.model.requests()
	last := rs[len(rs)-1]
	switch {
	case strings.Contains(last.messages, "orchids"):
		return "", errors.New("/clear did not clear the conversation")
	case !strings.Contains(last.messages, "tulips"):
		return "", errors.New("the last request is another one")
	case !strings.Contains(last.messages, rule):
		return "", errors.New("the first request after /clear has no rule")
	}
	return "the rule is in the first request after /clear", nil
}

// A terminal is where somebody types, and what has been drawn there since the last key.
type terminal struct {
	keys io.Writer

	mu    sync.Mutex
	drawn []byte
}

// Write takes what is drawn.
func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drawn = append(t.drawn, b...)
	return len(b), nil
}

// ready is what Claude Code draws below its prompt while it waits for keys.
const ready = "? for shortcuts"

// enters types a text and the return key, when Claude Code waits for it. The key comes when the text is drawn: together with
// it, it would be taken for a part of what was pasted.
func (t *terminal) enters(text string) error {
	words := strings.Fields(strings.TrimPrefix(text, "/"))
	if err := t.shows(ready); err != nil {
		return err
	}
	if err := t.types(text); err != nil {
		return err
	}
	if err := t.shows(words[len(words)-1]); err != nil {
		return err
	}
	return t.types("\r")
}

func (t *terminal) types(text string) error {
	t.mu.Lock()
	t.drawn = nil
	t.mu.Unlock()
	_, err := io.WriteString(t.keys, text)
	return err
}

// control is what moves the cursor and sets colours.
var control = regexp.MustCompile(`\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)`)

// shows waits until a text has been drawn.
func (t *terminal) shows(text string) error {
	seen := ""
	if !patiently(func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		seen = strings.Join(strings.Fields(control.ReplaceAllString(string(t.drawn), " ")), " ")
		return strings.Contains(seen, text)
	}) {
		return fmt.Errorf("the terminal does not show %q but %q", text, seen[max(0, len(seen)-200):])
	}
	return nil
}

// patiently waits until something is so, and reports whether it ever was.
func patiently(so func() bool) bool {
	for begun := time.Now(); time.Since(begun) < 3*time.Minute; time.Sleep(50 * time.Millisecond) {
		if so() {
			return true
		}
	}
	return false
}

// onboarded answers the questions that Claude Code asks at its first start.
func (s *stage) onboarded() error {
	file := filepath.Join(s.home(), ".claude.json")
	return edit(file, map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark",
		"customApiKeyResponses": map[string]any{"approved": []string{"sk-ant-made-up-0000000000"[len("sk-ant-made-up-0000000000")-20:]}, "rejected": []string{}},
		"projects":              map[string]any{s.project(): map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
}
