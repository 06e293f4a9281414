package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/decantdev/decant/internal/replay"
	"github.com/decantdev/decant/internal/report"
)

type replayCmd struct {
	Files    []string `arg:"" name:"file" help:"Session files, plain or gzip, or directories of them."`
	Policy   []string `placeholder:"NAME" sep:"none" help:"client (what was really sent, the client's own compactions included), none (the whole history), trim-N, keep-last-N, drop-oldest, a preset, a preset and a level of thrift (default:high), or a YAML file; may repeat. The first one is what others are compared with. Default: the usual ones, client first where the client compacted."`
	Thrift   string   `placeholder:"LEVEL" help:"Level of thrift of the presets that name none: off, low, default or high."`
	Model    string   `placeholder:"ID" help:"Model whose window and prices count. Default: the one in the recording."`
	Window   int      `placeholder:"TOKENS" help:"Window in place of the model's."`
	Fixed    int      `placeholder:"TOKENS" help:"Tokens of system prompt and tools. Default: as far as the recording tells."`
	Lifetime string   `placeholder:"5m|1h" help:"Lifetime of cache entries. Default: what the recorded usage says was written, request by request; else the markers in the request; else five minutes."`
	Clock    bool     `help:"The clock alone says when the cache was cold, not what the recording says was read from it."`
	Warm     bool     `help:"The cache never goes cold, whatever the recording says."`
	Split    bool     `help:"Play each stretch between two compactions of the client as a conversation of its own: what a policy saves while the client goes on compacting. Default: one conversation, as it would have been without them."`
	From     string   `placeholder:"FORMAT" help:"Format of the input. Default: found in the content."`
	JSON     bool     `name:"json" help:"Print JSON."`
	CSV      bool     `name:"csv" help:"Print CSV, one line a session and policy."`
	HTML     string   `name:"html" placeholder:"FILE" help:"Write a page with charts and every decision; it needs no network."`
	catalogFlag
}

// Run plays every session through every policy.
func (c *replayCmd) Run(s *streams) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	files, err := sessionFiles(c.Files)
	if err != nil {
		return inputError{err}
	}
	r, err := c.playAll(s, files, o)
	if err != nil {
		return err
	}
	if c.HTML != "" {
		if err := s.output(c.HTML, r.WriteHTML); err != nil {
			return err
		}
	}
	switch {
	case c.JSON:
		return writeJSON(s.out, r)
	case c.CSV:
		return r.WriteCSV(s.out)
	}
	return r.WriteText(s.out)
}

func (c *replayCmd) options() (*replay.Options, error) {
	catalog, err := c.models()
	if err != nil {
		return nil, err
	}
	if c.Lifetime != "" && c.Lifetime != "5m" && c.Lifetime != "1h" {
		return nil, usageError{fmt.Errorf("--lifetime %s: cache entries live for 5m or 1h", c.Lifetime)}
	}
	o := &replay.Options{
		Catalog: catalog, Model: c.Model, Window: c.Window, Fixed: c.Fixed, Lifetime: c.Lifetime, Clock: c.Clock, Warm: c.Warm, Split: c.Split,
		Details: c.JSON || c.HTML != "",
	}
	names := c.Policy
	if len(names) == 0 {
		names = replay.Defaults()
	}
	for _, name := range names {
		p, err := replay.Parse(name, c.Thrift)
		if err != nil {
			return nil, usageError{err}
		}
		o.Policies = append(o.Policies, p)
	}
	return o, nil
}

// sessionFiles returns the files that names stand for, those of directories in the order of their names.
func sessionFiles(names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if !d.IsDir() && (path == name || recordingName(path)) {
				out = append(out, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no session files there: they end in .jsonl or .jsonl.gz")
	}
	return out, nil
}

func recordingName(path string) bool {
	return slices.Contains([]string{".jsonl", ".json"}, filepath.Ext(strings.TrimSuffix(path, ".gz")))
}

// playAll plays the files, one on each core at a time. A file that cannot be read is noted and left
// out, unless it is the only one.
func (c *replayCmd) playAll(s *streams, files []string, o *replay.Options) (*report.Replay, error) {
	played := make([]*replay.Session, len(files))
	failed := make([]error, len(files))
	show := newCountdown(s, files, len(o.Policies))
	defer show.end()
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for i := range next {
				played[i], failed[i] = c.play(s, files[i], *o, func() { show.step(i) })
				show.done(i)
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	wg.Wait()
	if len(files) == 1 && failed[0] != nil {
		return nil, failed[0]
	}
	return c.sum(files, played, failed), nil
}

// sum adds up what was played.
func (c *replayCmd) sum(files []string, played []*replay.Session, failed []error) *report.Replay {
	var skipped []string
	for i, err := range failed {
		if err != nil {
			skipped = append(skipped, err.Error())
		} else if played[i].Conversations == 0 {
			skipped = append(skipped, files[i]+": no conversation with two requests")
		}
	}
	played = slices.DeleteFunc(played, func(p *replay.Session) bool { return p == nil || p.Conversations == 0 })
	if len(c.Policy) == 0 {
		withoutClient(played)
	}
	r := report.NewReplay(played)
	r.Skipped = skipped
	return r
}

// withoutClient leaves out what the clients did by themselves when they did nothing and nobody knows what
// they paid: then the policy after it, which sends everything, says the same.
func withoutClient(sessions []*replay.Session) {
	if slices.ContainsFunc(sessions, func(s *replay.Session) bool { return s.Compactions > 0 || s.Recorded != nil }) {
		return
	}
	for _, s := range sessions {
		s.Results = s.Results[1:]
	}
}

func (c *replayCmd) play(s *streams, file string, o replay.Options, step func()) (*replay.Session, error) {
	doc, err := s.document(file, c.From)
	if err != nil {
		return nil, err
	}
	o.Step = step
	return replay.Play(file, doc.Conversation, o)
}
