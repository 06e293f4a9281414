package notebook_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/apps/notebook/internal/scan"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/wire"
)

// quarterSessions returns the session files of the quarter: those of the folder that DECANT_SESSIONS names, or the one
// of testdata.
func quarterSessions(t *testing.T) (out [][]byte) {
	t.Helper()
	names := []string{"../../testdata/claude-code-session.jsonl.gz"}
	if dir := os.Getenv("DECANT_SESSIONS"); dir != "" {
		names = nil
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() && strings.Contains(path, ".jsonl") {
				names = append(names, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := gzip.NewReader(bytes.NewReader(src)); err == nil {
			if src, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, src)
	}
	return out
}

var (
	rawCommand = regexp.MustCompile(`git\b[^;&|\n]*\bcommit\b`)
	rawCommit  = regexp.MustCompile(`(?m)^\[[^\]\n]*?([0-9a-f]{7,40})\] .`)
)

// commitsIn counts by itself, with nothing of Decant's: the SHAs that git has printed as results of commands that commit.
func commitsIn(src []byte) (out []string) {
	type block struct {
		Type  string `json:"type"`
		ID    string `json:"id"`
		Of    string `json:"tool_use_id"`
		Bad   bool   `json:"is_error"`
		Input struct {
			Command string `json:"command"`
		} `json:"input"`
		Content json.RawMessage `json:"content"`
	}
	commits := map[string]bool{}
	for line := range bytes.Lines(src) {
		var l struct {
			Side    bool `json:"isSidechain"`
			Message struct {
				Content []block `json:"content"`
			} `json:"message"`
		}
		if json.Unmarshal(line, &l) != nil || l.Side {
			continue
		}
		for _, b := range l.Message.Content {
			var text string
			switch {
			case b.Type == "tool_use" && rawCommand.MatchString(b.Input.Command):
				commits[b.ID] = true
			case b.Type == "tool_result" && commits[b.Of] && !b.Bad && json.Unmarshal(b.Content, &text) == nil:
				for _, m := range rawCommit.FindAllStringSubmatch(text[:min(len(text), 2000)], -1) {
					out = append(out, m[1])
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A quarter of recorded sessions, three days apart: what is counted in the raw lines is in the notebook, kept or archived, once.
// Every schedule runs once, files are those of the store, and what was archived comes back as it was.
func TestAQuarterOfRecordedSessions(t *testing.T) {
	d := newDesk(t)
	if os.Getenv("DECANT_SESSIONS") == "" { // few sessions have few tasks
		d.no(os.Mkdir(filepath.Join(d.root, ".decant"), 0o700))
		d.no(os.WriteFile(filepath.Join(d.root, ".decant", "notebook.json"), []byte(`{"compaction":{"triggers":{"taskArchive":{"keepRecentCount":1}}}}`), 0o600))
	}
	b, ctx := d.book(), t.Context()
	begin := d.now
	sessions := quarterSessions(t)
	raw := map[string]bool{}
	for n, src := range sessions {
		d.now = begin.AddDate(0, 0, 3*n)
		doc, err := wire.ParseAs(wire.ClaudeCode, src)
		d.no(err)
		s := scan.Read(doc.Conversation)
		s.ID = fmt.Sprintf("quarter-%02d", n)
		shift := d.now.Add(-time.Hour).Sub(s.End)
		for i := range s.Tasks {
			s.Tasks[i].End = s.Tasks[i].End.Add(shift)
		}
		s.Start, s.End = s.Start.Add(shift), s.End.Add(shift)
		for _, sha := range commitsIn(src) {
			raw[sha] = true
		}
		_, err = b.CatchUp(ctx)
		d.no(err)
		for range 2 { // as a hook and then a scan read it
			_, err = b.Learn(ctx, []scan.Session{s})
			d.no(err)
		}
	}
	d.now = begin.AddDate(0, 0, 92)
	for range 2 {
		_, err := b.CatchUp(ctx)
		d.no(err)
	}
	items, err := b.Items(ctx, notebook.Query{Kinds: []memory.Kind{memory.KindTask}, Archived: true})
	d.no(err)
	seen, kept, archived := map[string]int{}, 0, 0
	for _, it := range items {
		r, err := notebook.RecordOf(it)
		d.no(err)
		if it.State() == memory.Archived {
			archived++
		} else {
			kept++
		}
		for _, sha := range r.Task.Commits {
			seen[sha]++
		}
	}
	for sha := range raw {
		if seen[sha] != 1 {
			t.Errorf("commit %s of the raw lines is in %d tasks", sha, seen[sha])
		}
	}
	if len(seen) != len(raw) || len(raw) == 0 || archived == 0 || kept == 0 {
		t.Errorf("%d commits in the raw lines, %d in %d kept and %d archived tasks", len(raw), len(seen), kept, archived)
	}
	d.onceEach(b, begin)
	d.same(b)
	archive := d.read(b, notebook.TaskArchiveFile)
	for _, it := range items {
		if it.State() == memory.Archived && !strings.Contains(archive, it.ID) {
			t.Errorf("%s is archived and in no file", it.ID)
		}
	}
	last := items[slices.IndexFunc(items, func(it memory.Item) bool { return it.State() == memory.Archived })]
	back, err := b.Restore(ctx, last.ID)
	d.no(err)
	if back.Text != last.Text || back.Extra == "" || !back.Created.Equal(last.Created) {
		t.Errorf("restored %+v, was %+v", back, last)
	}
	d.same(b)
	t.Logf("%d sessions, %d commits in the raw lines, %d tasks kept and %d archived", len(sessions), len(raw), kept, archived)
}

// onceEach insists that every Sunday and every 1st since a time has one scan.
func (d *desk) onceEach(b *notebook.Book, begin time.Time) {
	d.Helper()
	s, err := b.State(d.Context())
	d.no(err)
	got := map[string]int{}
	for _, r := range s.Runs {
		got[r.Schedule+r.Due.Format(" 2006-01-02")]++
	}
	want := 0
	for at := begin.Truncate(24*time.Hour).AddDate(0, 0, 1); !at.After(d.now); at = at.AddDate(0, 0, 1) {
		if at.Weekday() == time.Sunday {
			want++
			if got[at.Format("weekly 2006-01-02")] != 1 {
				d.Errorf("%s: %d weekly scans", at, got[at.Format("weekly 2006-01-02")])
			}
		}
		if at.Day() == 1 {
			want++
			if got[at.Format("monthly 2006-01-02")] != 1 {
				d.Errorf("%s: %d monthly scans", at, got[at.Format("monthly 2006-01-02")])
			}
		}
	}
	if len(got) != want {
		d.Errorf("%d scans, want %d", len(got), want)
	}
}
