package triagecmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/decantdev/decant/apps/triage"
	"github.com/decantdev/decant/apps/triage/internal/deliver"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/trust"
	"github.com/decantdev/decant/provider"
)

type initCmd struct {
	flags
}

// Help describes what the flags do not.
func (c *initCmd) Help() string {
	return `Example:

    decant triage init

It writes .decant/triage.yaml, which you complete, and never changes an existing file. Without settings decant triage run is a dry run.`
}

// Run writes settings, unless there are some.
func (c *initCmd) Run(s *process.Process) error {
	name := "acme/shop"
	if dir := trust.Repository(s.Path(".")); dir != "" {
		name = filepath.Base(dir)
	}
	err := WriteSettings(s, c.file(), fmt.Sprintf(triage.Template, name))
	if errors.Is(err, fs.ErrExist) {
		return exit.Input(fmt.Errorf("%s is there already: change it, or remove it first", c.file()))
	}
	if err != nil {
		return exit.Input(err)
	}
	s.Note("%s is written: name your sources in it, then check them: decant triage doctor", c.file())
	return nil
}

// WriteSettings writes a new file of settings, which its user trusts, and makes its folder. A file that exists is an error.
func WriteSettings(s *process.Process, name, text string) error {
	name = s.Path(name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return trust.AddWritten(s, name)
}

type doctorCmd struct {
	flags
}

// Help describes what the flags do not.
func (c *doctorCmd) Help() string {
	return `Example:

    decant triage doctor

Exit codes: 0 everything is ready, 1 something fails.`
}

// Run checks everything that a run needs. Each failure comes with advice.
func (c *doctorCmd) Run(s *process.Process) error {
	ctx, stop := s.Context()
	defer stop()
	set, err := c.settings(s)
	if err != nil {
		return err
	}
	failed := 0
	say := func(what string, err error) {
		if err == nil {
			fmt.Fprintf(s.Out, "ok    %s\n", what)
			return
		}
		failed++
		fmt.Fprintf(s.Out, "FAIL  %s: %s\n", what, secret.Mask(err.Error()))
	}
	if !set.Given {
		say("settings", errors.New(c.file()+" is not there: decant triage init writes it"))
	} else {
		say("settings "+c.file(), nil)
	}
	for _, src := range set.Sources {
		say(src.Name(), src.Check(ctx))
	}
	if len(set.Sources) == 0 {
		say("sources", errors.New("none: name them under sources in the settings, or files on the command line"))
	}
	c.inputs(ctx, s, set, say)
	c.outputs(ctx, s, set, say)
	if failed > 0 {
		return exit.Status(exit.Failed)
	}
	return nil
}

// inputs checks the model, the database and the repositories.
func (c *doctorCmd) inputs(ctx context.Context, s *process.Process, set *triage.Settings, say func(string, error)) {
	room, err := c.open(ctx, s, nil, set, true)
	if room.model == "" {
		say("model", err)
		if err := room.close(); err != nil {
			say("database", err)
		}
		room, err = c.open(ctx, s, nil, set, false)
	} else {
		say(checkModel(ctx, room))
	}
	if room.db != nil {
		say("database", nil)
	}
	if err != nil {
		say("database and repositories", err)
	} else {
		for _, r := range room.reader.Repos() {
			at, err := room.reader.Version(ctx, r.Name, "")
			say(fmt.Sprintf("repository %s %.12s", r.Name, at.SHA), err)
		}
	}
	if err := room.close(); err != nil {
		say("database", err)
	}
}

// checkModel makes a request that is free, a list of batches, to learn whether the provider accepts the key.
func checkModel(ctx context.Context, room *workroom) (what string, err error) {
	what = "model " + room.model
	batcher, ok := room.client.(provider.Batcher)
	if !ok {
		return what + " (its key is set; only a request can tell whether it is good)", nil
	}
	_, err = batcher.Batches(ctx, time.Now())
	f, answered := errors.AsType[*provider.Failure](err)
	switch {
	case err == nil:
		return what + " (its key is accepted)", nil
	case !answered:
		return what, err
	case f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden:
		return what, fmt.Errorf("%w; the key is wrong or lacks a right: ANTHROPIC_API_KEY", err)
	}
	return what + " (its key is set; only a request can tell whether it is good)", nil
}

// outputs checks Slack and GitHub, where findings go.
func (c *doctorCmd) outputs(ctx context.Context, s *process.Process, set *triage.Settings, say func(string, error)) {
	if channel := set.Deliver.Slack.Channel; channel != "" || s.Key("SLACK_WEBHOOK_URL") != "" {
		service, err := deliver.OpenSlack(s.Key)
		switch {
		case err != nil:
		case !service.Threads():
			channel = "over a webhook (only a message can test it; after a crash nobody can tell whether a message has arrived)"
		default:
			err = service.Check(ctx, channel)
		}
		say("Slack "+channel, err)
	}
	if repo := set.Deliver.Issues.Repo; repo != "" {
		hub, err := deliver.OpenHub(s.Key, repo)
		if err == nil {
			err = hub.Check(ctx, set.Deliver.PullRequest == "draft")
		}
		say("issues of "+repo, err)
	}
}
