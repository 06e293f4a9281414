package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	terminal, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		return "", err
	}
	defer func() { c.Process.Kill(); c.Wait(); terminal.Close() }()
	go io.Copy(log, terminal)
	before := len(s.model.requests())
	time.Sleep(6 * time.Second) // it draws its first screen, and takes no keys before
	if err := s.types(terminal, "Say hello to the orchids.", before+1); err != nil {
		return "", err
	}
	time.Sleep(3 * time.Second)
	if err := keys(terminal, "/clear"); err != nil {
		return "", err
	}
	time.Sleep(4 * time.Second)
	if err := s.types(terminal, "Say hello to the tulips.", before+2); err != nil {
		return "", err
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

// types types a prompt and waits for so many requests.
func (s *stage) types(terminal *os.File, text string, requests int) error {
	if err := keys(terminal, text); err != nil {
		return err
	}
	for range 300 {
		if len(s.model.requests()) >= requests {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("no request came after %q was typed; terminal.log has what was shown", text)
}

// keys types a text and the return key. The key comes later than the text, which would else be taken for pasted.
func keys(terminal *os.File, text string) error {
	if _, err := terminal.WriteString(text); err != nil {
		return err
	}
	time.Sleep(time.Second)
	_, err := terminal.WriteString("\r")
	return err
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
