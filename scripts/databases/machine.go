package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant/provider/sandbox"
)

// The window of every model, in tokens: first small, so that a short session needs a pour, then large, so that no pour is
// due and what is sent follows from what was decided before.
const (
	window = 8_550
	large  = 20_000
)

// key encrypts what is encrypted. It is no secret.
var key = strings.Repeat("01", 32)

// A machine is where a program runs: a database, and a sandbox behind it that remembers what came.
type machine struct {
	program string
	db, key string // files; no key: nothing is encrypted
	home    string
	script  *sandbox.Script
	api     *http.Server
	url     string // of the sandbox

	mu   sync.Mutex
	came []byte // the newest request at the sandbox
}

func newMachine(program, dir string, encrypted bool) (*machine, error) {
	m := &machine{program: program, db: filepath.Join(dir, "decant.db"), home: dir, script: &sandbox.Script{}}
	if encrypted {
		m.key = filepath.Join(dir, "key")
		if err := os.WriteFile(m.key, []byte(key), 0o600); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m.url = "http://" + l.Addr().String()
	m.api = &http.Server{Handler: m.remembering(sandbox.New(sandbox.Options{Window: large, Model: m.script})), ReadHeaderTimeout: 10 * time.Second}
	go m.api.Serve(l) // it ends with Close
	return m, nil
}

// remembering remembers the bodies that a handler gets.
func (m *machine) remembering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m.mu.Lock()
		m.came = body
		m.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// command returns a command of the program on the database.
func (m *machine) command(ctx context.Context, args ...string) *exec.Cmd {
	args = append(args, "--db", m.db)
	if m.key != "" {
		args = append(args, "--encryption-key-file", m.key)
	}
	c := exec.CommandContext(ctx, m.program, args...)
	c.Env = []string{"HOME=" + m.home, "PATH=" + os.Getenv("PATH"), fmt.Sprint("DECANT_WINDOW=", window)}
	return c
}

// run runs a command to its end.
func (m *machine) run(ctx context.Context, args ...string) error {
	out, err := m.command(ctx, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

var listens = regexp.MustCompile(`msg=serving listen=(\S+)`)

// serve calls do with the address of a gateway, which has written everything down when it returns.
func (m *machine) serve(ctx context.Context, do func(url string) error, args ...string) (err error) {
	c := m.command(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--anthropic-upstream", m.url}, args...)...)
	log, err := c.StderrPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	defer func() {
		c.Process.Signal(os.Interrupt) // one that has ended says so next
		err = errors.Join(err, c.Wait())
	}()
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if at := listens.FindStringSubmatch(lines.Text()); at != nil {
			go io.Copy(os.Stderr, log)
			return do("http://" + at[1])
		}
		fmt.Fprintln(os.Stderr, lines.Text())
	}
	return errors.Join(errors.New("the program does not serve"), lines.Err())
}

// send sends a request of a session to a gateway, to be answered with the n-th answer, and returns what has come of it
// at the sandbox.
func (m *machine) send(ctx context.Context, url, session string, body []byte, n int) ([]byte, error) {
	m.script.Seek(n)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Anthropic-Version": "2023-06-01", "X-Api-Key": "none", "X-Decant-Session": session,
	} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d: %s: %w", session, res.StatusCode, answer, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.came, nil
}
