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

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/command"
	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/internal/replay"
	"github.com/decantdev/decant/internal/report"
	"github.com/decantdev/decant/internal/sessionfile"
)

type replayCmd struct {
	Files    []string `arg:"" name:"file" help:"Session files, plain or gzip, or directories of them."`
	Policy   []string `placeholder:"NAME" sep:"none" help:"Policy to play; repeat for several, the first is the baseline. One of: client (what was really sent, the client's compactions included), none (the whole history), trim-N, keep-last-N, drop-oldest, a preset, a preset with a level of early pours (default:high), a YAML file. Default: the usual ones, with client first if it compacted."`
	Early    string   `name:"early-pours" placeholder:"LEVEL" help:"Level of early pours for presets that name none: off, low, default or high."`
	Model    string   `placeholder:"ID" help:"Model whose window and prices count. Default: the one in the recording."`
	Window   int      `placeholder:"TOKENS" help:"Window to use instead of the model's."`
	Fixed    int      `placeholder:"TOKENS" help:"Size of system prompt and tools. Default: what the recording shows."`
	Join     bool     `help:"Play the sessions in order of time as one conversation. They must be of one project and one format."`
	KeepWarm bool     `name:"keep-warm" help:"Print what keeping the prompt cache warm over pauses would have saved or cost, by the recorded usage."`
	From     string   `placeholder:"FORMAT" help:"Format of the input. Default: found in the content."`
	JSON     bool     `name:"json" help:"Print JSON."`
	HTML     string   `name:"html" placeholder:"FILE" help:"Write an HTML page with charts and every decision. It needs no network."`
	command.CatalogFlag
}

// Run plays every session through every policy.
func (c *replayCmd) Run(s *process.Process) error {
	o, err := c.options(s)
	if err != nil {
		return err
	}
	files, err := sessionFiles(s, c.Files)
	if err != nil {
		return exit.Input(err)
	}
	play := c.playAll
	if c.Join {
		play = c.playJoined
	}
	r, err := play(s, files, o)
	if err != nil {
		return err
	}
	if c.HTML != "" {
		if err := s.Output(c.HTML, r.WriteHTML); err != nil {
			return err
		}
	}
	if c.JSON {
		return command.WriteJSON(s.Out, r)
	}
	return r.WriteText(s.Out)
}

func (c *replayCmd) options(s *process.Process) (*replay.Options, error) {
	catalog, err := c.Models(s)
	if err != nil {
		return nil, err
	}
	o := &replay.Options{
		Catalog: catalog, Model: c.Model, Window: c.Window, Fixed: c.Fixed, KeepWarm: c.KeepWarm,
		Details: c.JSON || c.HTML != "",
	}
	names := c.Policy
	if len(names) == 0 {
		names = replay.Defaults()
	}
	if c.Join {
		if names, err = c.joinedPolicies(names); err != nil {
			return nil, exit.Usage(err)
		}
	}
	for _, name := range names {
		p, err := replay.Parse(s.Preset(name), c.Early)
		if err != nil {
			return nil, exit.Usage(err)
		}
		o.Policies = append(o.Policies, p)
	}
	return o, nil
}

// joinedPolicies returns those of the names of policies that can be played on joined sessions, or what cannot.
func (c *replayCmd) joinedPolicies(names []string) ([]string, error) {
	switch {
	case c.KeepWarm:
		return nil, errors.New("--keep-warm goes by what was paid, and joined sessions were never sent: leave out --join")
	case slices.Contains(c.Policy, "client"):
		return nil, errors.New("--policy client is what was sent, which was several conversations: leave out --join")
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "client" }), nil
}

// sessionFiles returns the files that names stand for, those of directories in the order of their names.
func sessionFiles(s *process.Process, names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		err := filepath.WalkDir(s.Path(name), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if !d.IsDir() && (path == s.Path(name) || recordingName(path)) {
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

// playAll plays the files, one on each core at a time. It skips and reports a file that cannot be read,
// unless it is the only one.
func (c *replayCmd) playAll(s *process.Process, files []string, o *replay.Options) (*report.Replay, error) {
	played := make([]*replay.Session, len(files))
	failed := make([]error, len(files))
	show := newCountdown(s, files, len(o.Policies))
	defer show.end()
	copies := c.copies(s, files)
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for i := range next {
				own := *o
				own.Copied, own.Step = copies(i), func() { show.step(i) }
				played[i], failed[i] = c.play(s, files[i], own)
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

// playJoined plays the files as one conversation. It skips and reports a file that cannot be read, unless it is the only one.
func (c *replayCmd) playJoined(s *process.Process, files []string, o *replay.Options) (*report.Replay, error) {
	var rs []replay.Recording
	var skipped []string
	for _, f := range files {
		doc, err := sessionfile.Read(s, f, c.From)
		if err != nil && len(files) == 1 {
			return nil, err
		}
		if err != nil {
			skipped = append(skipped, err.Error())
			continue
		}
		rs = append(rs, replay.Recording{Name: f, Format: string(doc.Format), Conversation: doc.Conversation})
	}
	name := joinedName(files)
	show := newCountdown(s, []string{name}, len(o.Policies))
	defer show.end()
	o.Step = func() { show.step(0) }
	played, err := replay.PlayJoined(name, rs, *o)
	if err != nil {
		return nil, exit.Input(err)
	}
	for _, name := range played.Joined.LeftOut {
		skipped = append(skipped, name+": nothing in it was answered")
	}
	r := report.NewReplay([]*replay.Session{played})
	r.Skipped = skipped
	return r, nil
}

// joinedName names the conversation that files make.
func joinedName(files []string) string {
	if len(files) == 1 {
		return files[0]
	}
	return fmt.Sprintf("%s and %d more", filepath.Base(files[0]), len(files)-1)
}

// sum adds up what was played.
func (c *replayCmd) sum(files []string, played []*replay.Session, failed []error) *report.Replay {
	var skipped []string
	for i, err := range failed {
		if err != nil {
			skipped = append(skipped, err.Error())
		} else if len(played[i].Results) == 0 {
			skipped = append(skipped, files[i]+": no conversation with two requests of its own")
		}
	}
	played = slices.DeleteFunc(played, func(p *replay.Session) bool { return p == nil || len(p.Results) == 0 })
	if len(c.Policy) == 0 {
		withoutClient(played)
	}
	r := report.NewReplay(played)
	r.Skipped = skipped
	return r
}

// withoutClient leaves out the policy "client" if the clients compacted nothing and nobody knows what they
// paid: then "none", which sends everything, says the same.
func withoutClient(sessions []*replay.Session) {
	if slices.ContainsFunc(sessions, func(s *replay.Session) bool { return s.Compactions > 0 || s.Recorded != nil }) {
		return
	}
	for _, s := range sessions {
		s.Results = s.Results[1:]
	}
}

// copies finds out which answers stand in several of the files. A file that cannot be read is reported when it is played.
func (c *replayCmd) copies(s *process.Process, files []string) func(i int) func(*decant.Message) bool {
	if len(files) == 1 {
		return func(int) func(*decant.Message) bool { return nil }
	}
	var all replay.Copies
	for i, f := range files {
		if doc, err := sessionfile.Read(s, f, c.From); err == nil {
			all.Add(i, doc.Conversation)
		}
	}
	return all.In
}

func (c *replayCmd) play(s *process.Process, file string, o replay.Options) (*replay.Session, error) {
	doc, err := sessionfile.Read(s, file, c.From)
	if err != nil {
		return nil, err
	}
	return replay.Play(file, doc.Conversation, o)
}
