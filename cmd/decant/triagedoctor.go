package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/triage"
	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/deliver"
	"github.com/decantdev/decant/provider"
)

type triageInitCmd struct {
	triageFlags
}

// Run writes settings. It never changes those that are there.
func (c *triageInitCmd) Run(s *streams) error {
	if err := os.MkdirAll(filepath.Dir(c.file()), 0o755); err != nil {
		return inputError{err}
	}
	name := "acme/shop"
	if dir := cloneOf("."); dir != "" {
		name = filepath.Base(dir)
	}
	f, err := os.OpenFile(c.file(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return inputError{fmt.Errorf("%s is there already: change it, or remove it first", c.file())}
	}
	if err != nil {
		return inputError{err}
	}
	_, err = fmt.Fprintf(f, triage.Template, name)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := trustWritten(c.file()); err != nil {
		return err
	}
	s.note("%s is written: say where your errors are, then look whether all can be had: decant triage doctor", c.file())
	return nil
}

type triageDoctorCmd struct {
	triageFlags
}

// Run examines what a run needs. Each thing that is missing comes with what to do about it.
func (c *triageDoctorCmd) Run(s *streams) error {
	ctx, stop := interruptible()
	defer stop()
	set, err := c.settings(s)
	if err != nil {
		return err
	}
	bad := 0
	say := func(what string, err error) {
		if err == nil {
			fmt.Fprintf(s.out, "ok    %s\n", what)
			return
		}
		bad++
		fmt.Fprintf(s.out, "FAIL  %s: %s\n", what, secret.Mask(err.Error()))
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
		say("sources", errors.New("there are none: name them under sources in the settings, or files on the command line"))
	}
	c.parts(ctx, set, say)
	c.ways(ctx, set, say)
	if bad > 0 {
		return exitStatus(exitOther)
	}
	return nil
}

// model asks the provider for nothing that costs, such as a list of batches, to learn whether it takes the key.
func (c *triageDoctorCmd) model(ctx context.Context, room *triageRoom) (what string, err error) {
	maker, ok := room.client.(provider.Batcher)
	if ok {
		_, err = maker.Batches(ctx, time.Now())
	}
	f, answered := errors.AsType[*provider.Failure](err)
	switch {
	case ok && err == nil:
		return "model " + room.model + " (its key is taken)", nil
	case ok && !answered:
		return "model " + room.model, err
	case ok && (f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden):
		return "model " + room.model, fmt.Errorf("%w; the key is wrong, or may not do this: ANTHROPIC_API_KEY", err)
	}
	return "model " + room.model + " (its key is there; whether it is good only a request can tell)", nil
}

// parts examines the model, the database and the repositories.
func (c *triageDoctorCmd) parts(ctx context.Context, set *triage.Settings, say func(string, error)) {
	room, err := c.open(ctx, nil, set, true)
	switch {
	case room.model == "":
		say("model", err)
		if err := room.close(); err != nil {
			say("database", err)
		}
		room, err = c.open(ctx, nil, set, false)
	default:
		say(c.model(ctx, room))
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

// ways examines Slack and GitHub, where results go.
func (c *triageDoctorCmd) ways(ctx context.Context, set *triage.Settings, say func(string, error)) {
	if channel := set.Deliver.Slack.Channel; channel != "" || key("SLACK_WEBHOOK_URL") != "" {
		service, err := slackService(c.variable)
		switch {
		case err != nil:
		case !service.Threads():
			channel = "over a webhook (only a message can tell; a run whose message is cut off cannot find out whether it has arrived)"
		default:
			err = service.Check(ctx, channel)
		}
		say("Slack "+channel, err)
	}
	repo := set.Deliver.Issues.Repo
	if repo == "" {
		return
	}
	token := cmp.Or(key("GITHUB_TOKEN"), key("GH_TOKEN"))
	if token == "" {
		say("issues of "+repo, errors.New("there is no GITHUB_TOKEN: make one with the right to write issues"))
		return
	}
	client, err := code.GitHub(token, os.Getenv("GITHUB_API_URL"), nil)
	if err == nil {
		var hub *deliver.Hub
		if hub, err = deliver.NewHub(client, repo); err == nil {
			err = hub.Check(ctx, set.Deliver.PullRequest == "draft")
		}
	}
	say("issues of "+repo, err)
}
