// Package chatcmd is the commands decant chat, an agent at the terminal, asked once, or served to people and programs, and
// decant why, the receipt of an answer.
package chatcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/apps/chat"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/humanize"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/setup"
	"github.com/decantdev/decant/internal/trust"
	"github.com/decantdev/decant/internal/userdir"
	"github.com/decantdev/decant/store"
)

// Command is the command line of decant chat.
type Command struct {
	// StandIn has a chat talk to a stand-in for a model, for --sandbox. The function that it returns ends the stand-in.
	StandIn func(o *chat.Options) (end func() error, err error)

	Prompt         string         `short:"p" placeholder:"TEXT" help:"Send TEXT, print the answer and exit. Piped standard input is appended."`
	File           string         `short:"f" placeholder:"FILE-or-TEXT" help:"Send the content of FILE, or TEXT if there is no such file; print the answer and exit."`
	OutputFormat   string         `default:"text" enum:"text,json,stream-json" placeholder:"FORMAT" help:"Output: text, json (one object), or stream-json (one event per line)."`
	JSONSchema     string         `name:"json-schema" placeholder:"FILE" help:"Require an answer that is JSON of this schema, and print only it."`
	Model          string         `placeholder:"ID" help:"Model (${model})."`
	MaxTurns       int            `placeholder:"N" help:"Maximum model calls per turn (50)."`
	MaxBudgetUSD   float64        `name:"max-budget-usd" placeholder:"USD" help:"Maximum cost of the session. At the limit the model gives its final answer; with --serve, later messages are refused."`
	Allow          []string       `sep:"none" placeholder:"RULE" help:"Allow calls of this kind without asking, such as read or 'bash(git diff:*)'. Repeatable."`
	Team           string         `placeholder:"FILE" help:"Delegates, from a YAML file or a folder of Markdown files such as .claude/agents. The agent gives them parts of its work."`
	MCP            bool           `name:"mcp" help:"Start the servers in the project's .mcp.json, and trust this version of the file. They run with your rights."`
	Preset         string         `placeholder:"NAME" help:"Policy: an embedded preset, or a YAML file (agent-loop)."`
	Window         command.Amount `placeholder:"TOKENS" help:"Window for every model, in place of the catalogue's; for example of a local model."`
	Continue       bool           `short:"c" help:"Continue the newest session of this project."`
	Resume         string         `short:"r" placeholder:"ID" help:"Continue this session; the start of its id is enough."`
	ForkSession    bool           `help:"With -c or -r: continue in a new session and leave the old one as it is."`
	Serve          bool           `help:"Serve agents to people and programs: a web page, and an API that /openapi.yaml describes."`
	Listen         string         `placeholder:"ADDR" help:"Address to serve at (127.0.0.1:4142). Non-loopback addresses need keys, and tls in the settings."`
	PlainHTTP      bool           `name:"plain-http" help:"With --serve: serve other machines without TLS. Keys and messages cross the network unencrypted."`
	Workspaces     string         `placeholder:"DIR" help:"With --serve: agents may ask for a folder of files in DIR for each session."`
	WorkspaceShell bool           `help:"With --workspaces: agents may also run commands there. They are confined and have no network."`
	Sandbox        bool           `help:"Use a built-in fake model: no key, no network, and nothing is stored without --db."`
	DB             string         `name:"db" placeholder:"FILE" help:"Database file (or DECANT_DB). Default: the gateway's."`
	command.KeyFileFlag
	command.CatalogFlag
}

// Help says what the flags have no room for.
func (c *Command) Help() string {
	return `Without -p, -f or piped input, decant chat talks at the terminal; type /help there.

The key comes from ANTHROPIC_API_KEY, or OPENAI_API_KEY for OpenAI models. ANTHROPIC_BASE_URL and OPENAI_BASE_URL select
another server, such as a local model. Instructions come from AGENTS.md or CLAUDE.md, settings from .decant/config.yaml
and $XDG_CONFIG_HOME/decant/config.yaml.

Exit codes: 0 answered, 1 failed, 2 invalid command line or settings, 3 unreadable input, 4 incomplete answer (turn,
cost or length limit reached, refused by the model, or not valid for --json-schema), 130 interrupted.`
}

// Run answers once, or talks at the terminal.
func (c *Command) Run(s *process.Process) error {
	p, err := c.project(s)
	if err != nil {
		return exit.Usage(err)
	}
	for _, w := range p.Warnings {
		s.Warn(errors.New(w))
	}
	if c.Serve {
		return c.serve(s, p)
	}
	if c.Workspaces != "" || c.WorkspaceShell || c.Listen != "" || c.PlainHTTP {
		return exit.Usage(errors.New("--listen, --plain-http, --workspaces and --workspace-shell are for --serve"))
	}
	if c.Prompt == "" && c.File == "" && s.Typed() {
		return c.talk(s, p)
	}
	return c.once(s, p)
}

// talk talks at the terminal.
func (c *Command) talk(s *process.Process, p *project.Project) error {
	if c.OutputFormat != string(chat.FormatText) || c.JSONSchema != "" {
		return exit.Usage(errors.New("--output-format and --json-schema are for -p, -f and standard input"))
	}
	return talkAt(s, p, func(ctx context.Context, notices io.Writer) (*chat.Chat, func() error, error) {
		return c.open(ctx, s, p, notices, false)
	})
}

// project reads what the project here and its user say. What the command line says stands before it.
func (c *Command) project(s *process.Process) (*project.Project, error) {
	home, err := userdir.Config(s.Getenv)
	if err != nil {
		return nil, err
	}
	p, err := project.Load(project.Options{Dir: s.Path("."), Home: home, Trusted: func(f *trust.File) error {
		return trust.Ask(s, f, trust.Own(s, f.Name), ".")
	}})
	if err != nil {
		return nil, err
	}
	set := &p.Settings
	if c.Model != "" {
		set.Model = c.Model
	}
	if c.Preset != "" {
		set.Preset = c.Preset
	}
	if c.MaxTurns != 0 {
		set.MaxTurns = c.MaxTurns
	}
	if c.MaxBudgetUSD != 0 {
		set.MaxBudget = c.MaxBudgetUSD
	}
	if set.MaxTurns < 0 || set.MaxBudget < 0 {
		return nil, errors.New("--max-turns and --max-budget-usd must not be negative")
	}
	set.Preset = s.Preset(set.Preset)
	set.Allow = append(set.Allow, c.Allow...)
	return p, nil
}

// once answers one question.
func (c *Command) once(s *process.Process, p *project.Project) (err error) {
	q := chat.Question{Format: chat.Format(c.OutputFormat), Out: s.Out}
	if err = c.question(s, p, &q); err != nil {
		return err
	}
	if q.Schema, err = c.schema(s); err != nil {
		return err
	}
	ctx, stop := s.Context()
	defer stop()
	t, done, err := c.open(ctx, s, p, s.Err, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	r, err := t.Once(ctx, q)
	for i := range r.Denied {
		call := &r.Denied[i]
		s.Warn(fmt.Errorf("denied: no terminal to ask for approval: %s %s (allow it with --allow)", call.Tool, humanize.Clipped(string(call.Arguments), 200)))
	}
	return verdictOf(r, err)
}

// verdictOf returns the error of a result that is no free answer.
func verdictOf(r *chat.Result, err error) error {
	switch {
	case errors.Is(err, chat.ErrForm), errors.Is(err, agent.ErrBudget):
		return exit.Missed(err)
	case r.Stop == agent.StopCancelled:
		return exit.Interrupted
	case errors.Is(err, agent.ErrWaiting):
		return fmt.Errorf("this session has calls that wait for approval: run decant chat -r %s at a terminal", r.Session)
	case err != nil:
		return err
	}
	switch r.Stop {
	case agent.StopTurns:
		return exit.Missed(fmt.Errorf("reached the limit of %d turns: this is the final answer that the model gave", r.Turns))
	case agent.StopBudget:
		return exit.Missed(fmt.Errorf("the budget is used up ($%.4f): this is the final answer that the model gave", r.USD))
	case agent.StopLength:
		return exit.Missed(errors.New("the answer reached its maximum length and was cut off"))
	case agent.StopRefused:
		return exit.Missed(errors.New("the model refuses to answer"))
	}
	return nil
}

// question fills in what is to be said. Only what is typed as --prompt may name commands and files.
func (c *Command) question(s *process.Process, p *project.Project, q *chat.Question) (err error) {
	switch {
	case c.Prompt != "" && c.File != "":
		return exit.Usage(errors.New("want either -p or -f"))
	case c.Prompt != "":
		if q.Text, q.With, err = chat.Typed(p, c.Prompt); err != nil {
			return exit.Input(err)
		}
	case c.File != "":
		if q.Text, err = fileOrText(s.Path(c.File), c.File); err != nil {
			return exit.Input(err)
		}
	}
	more, err := c.piped(s, q.Text != "")
	if err != nil {
		return exit.Input(err)
	}
	q.Text = strings.TrimSpace(q.Text + "\n\n" + more)
	if q.Text == "" {
		return exit.Usage(errors.New("nothing to send: use -p TEXT, -f FILE or standard input"))
	}
	return nil
}

// fileOrText returns what a file holds, or the text that is no name of a file.
func fileOrText(path, text string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return text, nil
	}
	b, err := os.ReadFile(path)
	return string(b), err
}

const (
	mostPiped = 4 << 20
	firstByte = 3 * time.Second // that standard input may take to say that it says something
)

// piped returns what stands on standard input. Where something is to be said anyway, it does not wait long for input that never
// comes: programs inherit pipes that nobody writes to.
func (c *Command) piped(s *process.Process, optional bool) (string, error) {
	if s.In == nil || s.Typed() {
		return "", nil
	}
	r := bufio.NewReader(io.LimitReader(s.In, mostPiped+1))
	if optional {
		first := make(chan struct{})
		go func() {
			r.Peek(1)
			close(first)
		}()
		select {
		case <-first:
		case <-time.After(firstByte):
			s.Warn(fmt.Errorf("no input on stdin after %v, ignoring it; redirect slow output to a file, or use </dev/null", firstByte))
			return "", nil
		}
	}
	b, err := io.ReadAll(r)
	switch {
	case err != nil:
		return "", fmt.Errorf("standard input: %w", err)
	case len(b) > mostPiped:
		return "", fmt.Errorf("standard input: there are more than %d MB", mostPiped>>20)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), nil
}

// schema reads the schema of the answer, nil when there is none.
func (c *Command) schema(s *process.Process) (*chat.Schema, error) {
	if c.JSONSchema == "" {
		return nil, nil
	}
	src, err := os.ReadFile(s.Path(c.JSONSchema))
	if err != nil {
		return nil, exit.Input(err)
	}
	schema, err := chat.ParseSchema(src)
	if err != nil {
		return nil, exit.Input(fmt.Errorf("%s: %w", c.JSONSchema, err))
	}
	return schema, nil
}

// open opens a chat; done closes it. notices gets what the preset says of pours.
func (c *Command) open(ctx context.Context, s *process.Process, p *project.Project, notices io.Writer, unattended bool) (t *chat.Chat, done func() error, err error) {
	o := chat.Options{Project: p, Turns: p.Settings.MaxTurns, USD: p.Settings.MaxBudget, Window: c.Window.Tokens, Notices: notices, Unattended: unattended}
	if o.Preset, err = chat.PresetFor(p.Settings); err != nil {
		return nil, nil, exit.Usage(err)
	}
	if o.Team, err = teamOf(s.Path(c.Team)); err != nil {
		return nil, nil, exit.Input(err)
	}
	servers := func(s *process.Process, o *chat.Options) (func() error, error) {
		return giveServers(ctx, s, o, c.MCP, func(err error) { fmt.Fprintln(notices, "decant:", secret.Mask(err.Error())) })
	}
	clean, err := c.ready(s, &o, c.tools, servers)
	done = func() error { return command.End(clean) }
	if err == nil {
		t, err = chat.New(ctx, o)
		err = setup.Advised(err)
	}
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	clean = append(clean, t.Close)
	if err := c.resume(ctx, t); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return t, done, nil
}

// tools gives a chat its tools. Commands see neither the database nor what opens it.
func (c *Command) tools(s *process.Process, o *chat.Options) (func() error, error) {
	cfg, err := (&command.DBFlag{DB: c.DB, KeyFileFlag: c.KeyFileFlag}).Settings(s)
	if err != nil {
		return nil, err
	}
	hide, err := setup.Private(s, cfg, o.DB)
	if err != nil {
		return nil, err
	}
	return giveTools(s, o, hide)
}

// A step gives a chat something. What it returns ends that.
type step func(s *process.Process, o *chat.Options) (func() error, error)

// ready finds out whom a chat talks to and which database is used, and does what else is to be done before it begins. What it returns ends what
// it has begun, also beside an error.
func (c *Command) ready(s *process.Process, o *chat.Options, more ...step) (clean []func() error, err error) {
	if o.Catalog, err = c.Models(s); err != nil {
		return nil, err
	}
	model := func(s *process.Process, o *chat.Options) (func() error, error) { return c.talkTo(s, o) }
	for _, do := range slices.Concat([]step{c.Database}, more, []step{model}) {
		end, err := do(s, o)
		if end != nil {
			clean = append(clean, end)
		}
		if err != nil {
			return clean, err
		}
	}
	return clean, nil
}

// talkTo says whom the chat talks to. The function that it returns ends a stand-in.
func (c *Command) talkTo(s *process.Process, o *chat.Options) (func() error, error) {
	if c.Sandbox {
		o.Model = o.Project.Settings.Model
		return c.StandIn(o)
	}
	return nil, TalkTo(s, o, nil)
}

// serve serves agents until it is told to stop.
func (c *Command) serve(s *process.Process, p *project.Project) (err error) {
	cfg, err := c.served(s, p)
	if err != nil {
		return exit.Usage(err)
	}
	o := chat.Options{Project: p, USD: p.Settings.MaxBudget}
	clean, err := c.ready(s, &o, lend(&cfg.Tools))
	defer func() { err = errors.Join(err, command.End(clean)) }()
	if err != nil {
		return err
	}
	hint := ""
	if c.Sandbox {
		hint = "A stand-in answers: it knows what it is sent, and nothing else. Tell it something, then ask for it."
	}
	if m, _ := o.Catalog.Lookup(o.Model); m.Retirement(time.Now()) != "" {
		s.Warn(errors.New(m.Retirement(time.Now()) + ": choose another with --model; decant models lists them"))
	}
	where, err := c.workspaces(s, cfg, &o)
	if err != nil {
		return err
	}
	return serveChat(s, cfg, &o, where, hint, func() (*config.Config, error) { return c.served(s, p) })
}

// resume goes on with a session that was kept, if the command line says so.
func (c *Command) resume(ctx context.Context, t *chat.Chat) error {
	id := c.Resume
	switch {
	case c.Continue && id != "":
		return exit.Usage(errors.New("want either -c or -r"))
	case c.Continue:
		id = chat.Last
	case id == "" && c.ForkSession:
		return exit.Usage(errors.New("--fork-session needs -c or -r"))
	case id == "":
		return nil
	}
	err := t.Open(ctx, id, c.ForkSession)
	switch {
	case errors.Is(err, store.ErrNotFound) && id == c.Resume:
		return exit.Input(fmt.Errorf("there is no session %q in this database: \"decant sessions\" lists the stored ones", id))
	case errors.Is(err, store.ErrNotFound):
		return exit.Input(err)
	}
	return err
}

// Database says which database is used: the user's, or for the stand-in one that goes with the program.
func (c *Command) Database(s *process.Process, o *chat.Options) (func() error, error) {
	if c.Sandbox && c.DB == "" {
		dir, err := os.MkdirTemp(s.Getenv("TMPDIR"), "decant-chat-")
		o.DB = filepath.Join(dir, "chat.db")
		return func() error { return os.RemoveAll(dir) }, err
	}
	f := command.DBFlag{DB: c.DB, KeyFileFlag: c.KeyFileFlag}
	cfg, err := f.Settings(s)
	if err != nil {
		return nil, err
	}
	key, err := setup.Key(cfg)
	if err != nil {
		return nil, err
	}
	o.Encrypted = key != nil
	o.Open = func(ctx context.Context, db string) (store.Store, error) { return setup.Open(ctx, cfg, db) }
	o.DB = cfg.DB
	return nil, nil
}
