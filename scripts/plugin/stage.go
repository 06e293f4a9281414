package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// A stage is a user with a project, a gateway and a model behind it.
type stage struct {
	work    string
	claude  string
	model   *model
	server  *httptest.Server
	gateway *exec.Cmd
	base    string // address of the gateway
}

// home, project and db are files of the stage.
func (s *stage) home() string    { return filepath.Join(s.work, "home") }
func (s *stage) project() string { return filepath.Join(s.work, "project") }
func (s *stage) db() string      { return filepath.Join(s.work, "decant.db") }

// setUp makes a stage whose notebook has a rule.
func setUp(work, rule string) (*stage, error) {
	s := &stage{work: work, claude: os.Getenv("CLAUDE_CODE"), model: newModel()}
	for _, dir := range []string{s.home(), s.project()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	if err := command("git", "init", "-q", s.project()).Run(); err != nil {
		return nil, err
	}
	if err := s.remember(rule); err != nil {
		return nil, err
	}
	s.server = httptest.NewServer(s.model)
	return s, s.serve()
}

// remember begins a notebook with a rule.
func (s *stage) remember(text string) error {
	for _, args := range [][]string{{"init"}, {"add", text}} {
		args = append([]string{"notebook"}, append(args, "--dir", s.project(), "--db", s.db())...)
		c := command(filepath.Join(s.work, "bin", "decant"), args...)
		c.Env = append(os.Environ(), "HOME="+s.home())
		if err := c.Run(); err != nil {
			return err
		}
	}
	return nil
}

var listening = regexp.MustCompile(`listen=(127\.0\.0\.1:\d+)`)

// serve starts the gateway with a window that makes it pour.
func (s *stage) serve() error {
	log, err := os.Create(filepath.Join(s.work, "gateway.log"))
	if err != nil {
		return err
	}
	s.gateway = exec.Command(filepath.Join(s.work, "bin", "decant"), "serve", "--listen", "127.0.0.1:0", "--anthropic-upstream", s.server.URL, "--db", s.db(), "--window", "60000")
	s.gateway.Stdout, s.gateway.Stderr = log, log
	if err := s.gateway.Start(); err != nil {
		return err
	}
	if patiently(func() bool {
		text, _ := os.ReadFile(log.Name())
		m := listening.FindSubmatch(text)
		if m != nil {
			s.base = "http://" + string(m[1])
		}
		return m != nil
	}) {
		return nil
	}
	return fmt.Errorf("decant serve does not listen: %s", log.Name())
}

// tearDown ends what runs.
func (s *stage) tearDown() {
	if s.gateway != nil && s.gateway.Process != nil {
		s.gateway.Process.Signal(os.Interrupt)
		s.gateway.Wait()
	}
	s.server.Close()
}

// client returns Claude Code with arguments, as a user who has nothing but the project.
func (s *stage) client(args ...string) *exec.Cmd {
	c := exec.Command(s.claude, args...)
	c.Dir = s.project()
	c.Env = []string{
		"PATH=" + filepath.Join(s.work, "bin") + ":" + os.Getenv("PATH"), "HOME=" + s.home(), "DECANT_DB=" + s.db(), "TERM=xterm-256color",
		"ANTHROPIC_BASE_URL=" + s.base, "ANTHROPIC_API_KEY=sk-ant-made-up-0000000000", "IS_SANDBOX=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
	}
	return c
}

// says lets Claude Code print what it answers.
func (s *stage) says(args ...string) (string, error) {
	c := s.client(args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := c.Start(); err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { c.Process.Kill() })
	defer stop()
	if err := c.Wait(); err != nil {
		return out.String(), fmt.Errorf("claude %q: %w: %s", args, err, out.String())
	}
	return out.String(), nil
}
