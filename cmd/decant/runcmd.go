package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/doctor"
	"github.com/decantdev/decant/internal/edge"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
)

type runCmd struct {
	gatewayFlags
	Listen  string   `placeholder:"ADDR" help:"Address of the gateway, if your firewall needs a fixed one (127.0.0.1 and a free port)."`
	LogFile string   `placeholder:"FILE" help:"File for the gateway's log. By default warnings are dropped, to keep the agent's screen clean."`
	Command []string `arg:"" passthrough:"" placeholder:"COMMAND" help:"Agent and its arguments; put -- in front: decant run -- claude -p hello"`
}

// Run runs an agent on a gateway of its own and returns the agent's exit code.
func (c *runCmd) Run(s *process.Process) (err error) {
	if c.Upstream == "" {
		c.Upstream = s.Getenv("ANTHROPIC_BASE_URL") // send requests where the agent would send them
	}
	codex := codexOf(c.Command, s)
	if c.OpenAI == "" && codex != nil {
		c.OpenAI = codex.base
	}
	if c.OpenAI == "" && codex == nil { // Codex does not read it
		c.OpenAI = cmp.Or(s.Getenv("OPENAI_BASE_URL"), s.Getenv("OPENAI_API_BASE")) // LiteLLM's name for it
	}
	if err := c.settle(s); err != nil {
		return err
	}
	cfg, err := c.local(s)
	if err != nil {
		return err
	}
	text := doubt(c.Command[0])
	if codex != nil {
		text = codex.doubt()
	}
	if text != "" {
		s.Warn(errors.New(text))
	}
	quiet := *s
	closeLog, err := c.redirect(&quiet)
	if err != nil {
		return err
	}
	defer closeLog()
	own := cfg.Destinations()[0].Hostname() == doctor.FirstPartyHost
	told, err := withGateway(cfg, &quiet, func(base string) error {
		return runAgent(codex.pointed(c.Command, base), base, own, s)
	})
	if told != "" {
		fmt.Fprintln(s.Err, told) // nobody can be told that this failed
	}
	return err
}

// local returns the configuration of a gateway that only this machine can reach. It opens no other door and has no keys, because
// the agent is the one local user.
func (c *runCmd) local(s *process.Process) (*config.Config, error) {
	listen := cmp.Or(c.Listen, "127.0.0.1:0")
	if host, _, err := net.SplitHostPort(listen); err != nil || !config.Loopback(host) {
		return nil, exit.Usage(fmt.Errorf("run: --listen %s is not a loopback address such as 127.0.0.1:4141; to serve other machines, use decant serve", listen))
	}
	cfg, err := c.load(s, listen)
	if err != nil {
		return nil, err
	}
	cfg.Keys, cfg.TLS, cfg.Plain, cfg.Metrics = nil, config.TLS{}, false, ""
	if cfg.Project == "" {
		cfg.Project, err = s.Abs(".")
	}
	return cfg, err
}

// redirect sends the gateway's log to its file.
func (c *runCmd) redirect(s *process.Process) (func() error, error) {
	f, err := os.OpenFile(cmp.Or(s.Path(c.LogFile), os.DevNull), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log file: %w", err)
	}
	s.Err = f
	return f.Close, nil
}

// withGateway serves a gateway while do runs, and sums up in a line what came of it, empty when nothing did.
func withGateway(cfg *config.Config, s *process.Process, do func(base string) error) (told string, err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	srv, err := newService(ctx, s, cfg, edge.Logger(cfg, s), nil)
	if err != nil {
		return "", err
	}
	srv.board.Lines = linesFor(cfg, s)
	l, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return "", errors.Join(err, srv.close())
	}
	served := make(chan error, 1)
	go func() { served <- srv.gateway.Serve(ctx, l, time.Duration(cfg.Drain)) }()
	err = do("http://" + l.Addr().String())
	stop()
	if failed := errors.Join(<-served, srv.close()); failed != nil && err == nil {
		return "", failed
	}
	return srv.tally.String(), err
}

// runAgent runs a command whose API is at base; own says that the provider's own API is behind it. It passes signals
// to stop to the command, which decides what to do.
func runAgent(command []string, base string, own bool, s *process.Process) error {
	env, err := clientEnv(s.Environ, base, own)
	if err != nil {
		return exit.Usage(err)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Dir, env, s.In, process.File(s.Out), process.File(s.Err)
	signals, stop := s.Signals(os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run %s: %w", filepath.Base(command[0]), err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			return exitOf(err)
		case sig := <-signals:
			if sig == syscall.SIGTERM { // the terminal has already sent an interrupt to the command
				cmd.Process.Signal(sig) // fails if the command has ended meanwhile
			}
		}
	}
}

// exitOf returns the exit code of a command, as a shell would report it. Decant passes it on and prints nothing.
func exitOf(err error) error {
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		return err
	}
	if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exit.Status(128 + int(status.Signal()))
	}
	return exit.Status(failed.ExitCode())
}

// clientEnv returns the environment in which clients find the gateway at base: Claude Code and the SDKs by
// ANTHROPIC_BASE_URL and OPENAI_BASE_URL, opencode by its configuration, none of them through a proxy. It tells Claude Code if
// the provider's own API is behind the gateway, unless the user has set that variable.
func clientEnv(environ []string, base string, own bool) ([]string, error) {
	get := func(name string) string {
		for _, e := range environ {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				return v
			}
		}
		return ""
	}
	opencode, err := opencodeConfig(get("OPENCODE_CONFIG_CONTENT"), base)
	if err != nil {
		return nil, err
	}
	set := []string{"ANTHROPIC_BASE_URL=" + base, "OPENAI_BASE_URL=" + base + "/v1", "OPENCODE_CONFIG_CONTENT=" + opencode}
	if own && get(doctor.FirstParty) == "" {
		set = append(set, doctor.FirstParty+"=1")
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		set = append(set, name+"="+strings.TrimPrefix(get(name)+",127.0.0.1,localhost", ","))
	}
	return append(environ[:len(environ):len(environ)], set...), nil
}

// opencodeConfig returns opencode's configuration with the address of its provider for Claude set, and everything else
// unchanged. That for OpenAI's models may be another server in the user's files, whose key must not go to OpenAI.
func opencodeConfig(content, base string) (string, error) {
	if content == "" {
		content = "{}"
	}
	out, err := setPath(jsontext.Value(content), []string{"provider", "anthropic", "options", "baseURL"}, jsontext.Value(fmt.Sprintf("%q", base+"/v1")))
	if err != nil {
		return "", fmt.Errorf("OPENCODE_CONFIG_CONTENT: %w", err)
	}
	return string(out), nil
}

// setPath returns a JSON object with the member at a path set.
func setPath(object jsontext.Value, path []string, value jsontext.Value) (jsontext.Value, error) {
	if len(path) == 0 {
		return value, nil
	}
	members := map[string]jsontext.Value{}
	if len(object) > 0 {
		if err := json.Unmarshal(object, &members); err != nil {
			return nil, fmt.Errorf("%s: %w", path[0], err)
		}
	}
	inner, err := setPath(members[path[0]], path[1:], value)
	if err != nil {
		return nil, err
	}
	members[path[0]] = inner
	return json.Marshal(members, json.Deterministic(true))
}
