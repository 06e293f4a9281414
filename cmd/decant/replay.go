package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/decantdev/decant/replay"
	"github.com/decantdev/decant/report"
)

type replayCmd struct {
	Files  []string `arg:"" name:"file" help:"Session files, plain or gzip, or directories of them."`
	Policy []string `placeholder:"NAME" sep:"none" help:"client (what was really sent, the client's own compactions included), none (the whole history), trim-N, keep-last-N, drop-oldest, a preset, a preset and a level of thrift (default:high), or a YAML file; may repeat. The first one is what others are compared with. Default: the usual ones, client first where the client compacted."`
	Thrift string   `placeholder:"LEVEL" help:"Level of thrift of the presets that name none: off, low, default or high."`
	Model  string   `placeholder:"ID" help:"Model whose window and prices count. Default: the one in the recording."`
	Window int      `placeholder:"TOKENS" help:"Window in place of the model's."`
	Fixed  int      `placeholder:"TOKENS" help:"Tokens of system prompt and tools. Default: as far as the recording tells."`
	Warm   bool     `help:"The cache never goes cold, whatever the recorded times say."`
	Split  bool     `help:"Play each stretch between two compactions of the client as a conversation of its own: what a policy saves while the client goes on compacting. Default: one conversation, as it would have been without them."`
	From   string   `placeholder:"FORMAT" help:"Format of the input. Default: found in the content."`
	JSON   bool     `name:"json" help:"Print JSON."`
	CSV    bool     `name:"csv" help:"Print CSV, one line a session and policy."`
	HTML   string   `name:"html" placeholder:"FILE" help:"Write a page with charts and every decision; it needs no network."`
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
	if err := r.WriteText(s.out); err != nil {
		return err
	}
	return c.notes(s.out, r.Sessions)
}

// notes says what was played where the recorded clients compacted.
func (c *replayCmd) notes(w io.Writer, sessions []*replay.Session) error {
	held, compactions, most, begun, stretches := 0, 0, 0, 0, 0
	for _, s := range sessions {
		compactions += s.Compactions
		most = max(most, s.CompactedAt)
		stretches += s.Conversations - 1
		if s.Compactions > 0 {
			held++
		}
		if s.Begun {
			begun++
		}
	}
	var out []string
	if held > 0 {
		out = append(out, fmt.Sprintf("note: %s with %s of the client's own. \"client\" plays them and pays for the summaries; the other policies play the\n"+
			"whole history as the one conversation that it would have been. What is over the window is priced as if it had been answered.",
			report.Count(held, "session"), report.Count(compactions, "compaction")))
		if most > 0 {
			out = append(out, fmt.Sprintf("note: the largest prompt before a compaction had %s tokens; --window sets another window than the model's.", report.Thousands(most)))
		}
	}
	if stretches > 0 {
		out = append(out, "note: each stretch between two compactions of the client is a conversation of its own here.")
	}
	if begun > 0 {
		out = append(out, fmt.Sprintf("note: %s with a summary of the client's at the beginning; what it stands for is not in the file.", report.Count(begun, "session")))
	}
	for _, line := range out {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

func (c *replayCmd) options() (*replay.Options, error) {
	catalog, err := c.models()
	if err != nil {
		return nil, err
	}
	o := &replay.Options{Catalog: catalog, Model: c.Model, Window: c.Window, Fixed: c.Fixed, Warm: c.Warm, Split: c.Split, Details: c.JSON || c.HTML != ""}
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
	show := newCountdown(s, files)
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for i := range next {
				played[i], failed[i] = c.play(s, files[i], o)
				show.done(i)
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	wg.Wait()
	show.end()
	if len(files) == 1 && failed[0] != nil {
		return nil, failed[0]
	}
	var notes []string
	for i, err := range failed {
		if err != nil {
			notes = append(notes, err.Error())
		} else if played[i].Conversations == 0 {
			notes = append(notes, files[i]+": no conversation with two requests")
		}
	}
	played = slices.DeleteFunc(played, func(p *replay.Session) bool { return p == nil || p.Conversations == 0 })
	if len(c.Policy) == 0 {
		withoutClient(played)
	}
	r := report.NewReplay(played)
	r.Skipped = notes
	return r, nil
}

// withoutClient leaves out what the clients did by themselves when they did nothing: then the policy
// after it, which sends everything, says the same.
func withoutClient(sessions []*replay.Session) {
	if slices.ContainsFunc(sessions, func(s *replay.Session) bool { return s.Compactions > 0 }) {
		return
	}
	for _, s := range sessions {
		s.Results = s.Results[1:]
	}
}

func (c *replayCmd) play(s *streams, file string, o *replay.Options) (*replay.Session, error) {
	doc, err := s.document(file, c.From)
	if err != nil {
		return nil, err
	}
	return replay.Play(file, doc.Conversation, *o)
}

// A countdown says on a terminal how far a long work is and how long it will take.
type countdown struct {
	w     io.Writer // nil: nobody watches
	start time.Time
	sizes []int64

	mu         sync.Mutex
	all, ready int64
	files      int
}

func newCountdown(s *streams, files []string) *countdown {
	c := &countdown{start: time.Now()}
	if s.terminal {
		c.w = s.err
	}
	for _, f := range files {
		n := int64(1)
		if info, err := os.Stat(f); err == nil {
			n += info.Size()
		}
		c.sizes = append(c.sizes, n)
		c.all += n
	}
	return c
}

func (c *countdown) done(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready += c.sizes[i]
	c.files++
	spent := time.Since(c.start)
	if c.w == nil || spent < time.Second {
		return
	}
	left := time.Duration(float64(spent) * float64(c.all-c.ready) / float64(c.ready))
	fmt.Fprintf(c.w, "\rplayed %d of %d sessions, %d s left ", c.files, len(c.sizes), int(left.Seconds()))
}

func (c *countdown) end() {
	if c.w != nil && time.Since(c.start) > time.Second {
		fmt.Fprint(c.w, "\r\x1b[K")
	}
}
