package triagecmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/source"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
)

type investigateCmd struct {
	File string `arg:"" help:"File with a stack trace, or an address (https://...); - is standard input."`

	Release     string `placeholder:"TAG-or-SHA" help:"The release that ran."`
	ErrorTokens int    `placeholder:"N" help:"Tokens for the error (30000)."`
	HTML        string `name:"html" placeholder:"FILE" help:"Also write the report as a page."`
	JSON        bool   `name:"json" help:"Print the report as JSON."`
	flags
}

// Help describes what the flags do not.
func (c *investigateCmd) Help() string {
	return `Example:

    decant triage investigate trace.txt --release v2

Nothing is sent to Slack or GitHub.`
}

// Run investigates one error.
func (c *investigateCmd) Run(s *process.Process) (err error) {
	ctx, stop := s.Context()
	defer stop()
	text, err := pasted(ctx, s, c.File)
	if err != nil {
		return err
	}
	e, ok := source.Parse(text)
	if !ok {
		return exit.Input(fmt.Errorf("%s has no error in it: paste the message with its stack trace", c.File))
	}
	e.Release = c.Release
	set, err := c.settings(s)
	if err != nil {
		return err
	}
	set.PerError = cmp.Or(c.ErrorTokens, set.PerError)
	room, err := c.open(ctx, s, nil, set, true)
	defer func() { err = errors.Join(err, room.close()) }()
	if err != nil {
		return err
	}
	room.options.Told, room.options.Found = progress(s)
	look := &triage.Look{Mask: room.masker.Text, Most: 1, Model: room.model, Simulated: c.Sandbox}
	p, err := look.PlanOne(ctx, room.options, e, time.Now())
	if err != nil {
		return err
	}
	r, err := triage.Start(ctx, room.options, p)
	if err != nil {
		return err
	}
	return (&runCmd{JSON: c.JSON, HTML: c.HTML, quiet: true}).work(ctx, s, room, r)
}

// maxPasted is how many bytes of a stack trace are read.
const maxPasted = 1 << 20

// pasted returns the text of a stack trace from a file, an address, or standard input.
func pasted(ctx context.Context, s *process.Process, name string) (string, error) {
	if strings.Contains(name, "://") {
		return fetched(ctx, name)
	}
	in := s.In
	if name != "-" {
		f, err := os.Open(s.Path(name))
		if err != nil {
			return "", exit.Input(err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxPasted))
	if err != nil {
		return "", exit.Input(err)
	}
	return string(b), nil
}

// fetched returns a page as an agent would fetch it: by https, from public addresses only, without credentials.
func fetched(ctx context.Context, url string) (string, error) {
	if !strings.HasPrefix(url, "https://") {
		return "", exit.Usage(fmt.Errorf("%s: an address must begin with https://", url))
	}
	box, err := tools.New(tools.Options{Dir: os.TempDir(), Fetch: tools.Fetch{Most: maxPasted}})
	if err != nil {
		return "", err
	}
	defer box.Close()
	for _, t := range box.Tools() {
		if t.Name != "fetch" {
			continue
		}
		args, err := json.Marshal(map[string]string{"url": url})
		if err != nil {
			return "", err
		}
		res, err := t.Run(ctx, &agent.Call{Tool: t.Name, Arguments: args, Progress: func(string) {}})
		if err != nil {
			return "", exit.Input(fmt.Errorf("%s: %w", url, err))
		}
		return res.Text, nil
	}
	return "", errors.New("this program cannot fetch pages")
}
