//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/decantdev/decant/testing/testkit"
)

// A sitting is somebody at a real terminal, in which the program runs.
type sitting struct {
	*testing.T
	tty *os.File
	cmd *exec.Cmd

	mu    sync.Mutex
	shown bytes.Buffer
	seen  int
	over  chan struct{} // closed when nothing more is shown
}

// text returns what was shown so far.
func (s *sitting) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// sit starts the program in a terminal of 60 columns, in a folder with files.
func sit(t *testing.T, files map[string]string, environ []string, args ...string) *sitting {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "decant") // by this name the test's own program is the command
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	return sitIn(t, dir, environ, args...)
}

// sitIn starts the program again in the folder of a sitting.
func sitIn(t *testing.T, dir string, environ []string, args ...string) *sitting {
	t.Helper()
	cmd := exec.Command(filepath.Join(dir, "decant"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append([]string{"HOME=" + dir, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "TERM=xterm"}, environ...)...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 60})
	if err != nil {
		t.Fatal(err)
	}
	s := &sitting{T: t, tty: tty, cmd: cmd, over: make(chan struct{})}
	t.Cleanup(func() {
		cmd.Process.Kill()
		tty.Close()
		if t.Failed() {
			t.Logf("shown was:\n%s", s.text())
		}
	})
	go s.watch()
	return s
}

// watch keeps what is shown.
func (s *sitting) watch() {
	defer close(s.over)
	buf := make([]byte, 4096)
	for {
		n, err := s.tty.Read(buf)
		s.mu.Lock()
		s.shown.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// types types.
func (s *sitting) types(text string) {
	s.Helper()
	if _, err := io.WriteString(s.tty, text); err != nil {
		s.Fatal(err)
	}
}

// sees waits until something is shown behind what was waited for before.
func (s *sitting) sees(want string) {
	s.Helper()
	testkit.Eventually(s, fmt.Sprintf("%q is shown", want), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		i := strings.Index(s.shown.String()[s.seen:], want)
		if i >= 0 {
			s.seen += i + len(want)
		}
		return i >= 0
	})
}

// ends waits for the end of the program.
func (s *sitting) ends(code int) {
	s.Helper()
	ended := make(chan error, 1)
	go func() {
		err := s.cmd.Wait()
		<-s.over
		ended <- err
	}()
	testkit.Received(s, "the program ends", ended)
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.Errorf("exit code %d, want %d", got, code)
	}
}

// The program at a real terminal: typed lines, a paste, keys that edit, a narrow screen, and the end, which leaves the
// terminal as it was.
func TestChatAtATerminal(t *testing.T) {
	s := sit(t, map[string]string{"AGENTS.md": "Be brief.", "notes.txt": "The color is green.\n"}, nil, "chat", "--sandbox")
	s.sees("/help lists")
	s.sees("> ")
	was, err := term.GetState(int(s.tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	s.types("What is the colxr?\x1b[D\x1b[D\x7fo\x05 See @notes.txt\x01 \x05\r") // edited where it stands, at its beginning and at its end
	s.sees("The color is green")
	s.sees("of 200,000 tokens | $0.0")
	s.types("\x1b[200~one\ntwo\x1b[201~\x15") // what is pasted is not sent by itself
	s.types("The port is 9000.\r")
	s.sees("| $0.0")
	s.types("/context\r")
	s.sees("what you said")
	s.sees("free")
	s.types("\x03")
	s.sees("(nothing is under way")
	s.types("\x04")
	s.ends(0)
	s.sees("\x1b[?2004l")
	if raw, err := term.GetState(int(s.tty.Fd())); err == nil && *raw == *was {
		t.Error("the terminal still passes on each key")
	}
	for line := range strings.SplitSeq(s.text(), "\n") {
		if text := strings.Trim(line, "\r"); len([]rune(text)) > 200 {
			t.Errorf("a line of %d characters on a screen of 60: %s", len([]rune(text)), text)
		}
	}
}

// What a chat could not have is said where it begins, above what is typed.
func TestChatSaysWhatIsMissing(t *testing.T) {
	s := sit(t, map[string]string{".mcp.json": `{"mcpServers": {"db": {"command": "db-server"}}}`}, nil, "chat", "--sandbox")
	s.sees("say --mcp once")
	s.sees("/help lists")
	s.types("The port is 9000.\r")
	s.sees("| $0.0")
	s.types("/model claude-sonnet-5-5\r")
	s.types("\x04")
	s.ends(0)
}

// So is what the members of a team could not have, once.
func TestChatSaysWhatATeamLacks(t *testing.T) {
	const member = "---\nname: reviewer\ndescription: Reviews.\ntools: Read, WebSearch\n---\nReview."
	s := sit(t, map[string]string{".claude/agents/reviewer.md": member}, nil, "chat", "--sandbox", "--team", ".claude/agents")
	s.sees("works without WebSearch")
	s.sees("/help lists")
	s.types("/model claude-sonnet-5-5\r")
	s.sees("claude-sonnet-5-5")
	s.types("\x04")
	s.ends(0)
	if n := strings.Count(s.text(), "works without"); n != 1 {
		t.Errorf("it is said %d times", n)
	}
}

// A terminal that can do no more is written plain lines, and told to end by the end of its input.
func TestChatAtADumbTerminal(t *testing.T) {
	s := sit(t, nil, []string{"TERM=dumb"}, "chat", "--sandbox")
	s.sees("/help lists")
	s.types("The port is 9000.\n")
	s.sees("| $0.0")
	s.types("What is the port?\n")
	s.sees("The port is 9000")
	s.sees("| $0.0")
	s.types("\x03")
	s.sees("(nothing is under way")
	s.types("\x04")
	s.ends(0)
	if strings.Contains(s.text(), "\x1b") {
		t.Errorf("plain output holds controls: %q", s.text())
	}
}

// A signal ends it, too, and leaves the terminal as it was.
func TestChatIsTerminated(t *testing.T) {
	s := sit(t, nil, nil, "chat", "--sandbox")
	s.sees("/help lists")
	s.sees("> ")
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil { // as a shell's kill -INT: it interrupts, and does not end
		t.Fatal(err)
	}
	s.sees("(nothing is under way")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.ends(143)
	s.sees("\x1b[?2004l")
}
