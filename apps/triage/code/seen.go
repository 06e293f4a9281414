package code

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Seen is what one investigation was shown. The zero value has seen nothing. It is safe for concurrent use, and it is kept as JSON.
type Seen struct {
	mu       sync.Mutex
	shown    []Shown
	suspects []Suspect
	cut      int // answers that had no room for all of it
	left     int // characters that they lost
}

// A Suspect is a commit that may have brought an error. Only a Seen returns one, of a commit whose diff was shown.
type Suspect struct {
	change Change
	paths  []string
}

// Change returns the commit.
func (s Suspect) Change() Change { return s.change }

// Add notes what an answer has shown.
func (s *Seen) Add(a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Left > 0 {
		s.cut, s.left = s.cut+1, s.left+a.Left
	}
	for _, shown := range a.Shown {
		if !slices.Contains(s.shown, shown) {
			s.shown = append(s.shown, shown)
		}
	}
	if a.Change == nil || len(a.Shown) == 0 {
		return
	}
	i := slices.IndexFunc(s.suspects, func(o Suspect) bool { return o.change.Repo == a.Change.Repo && o.change.SHA == a.Change.SHA })
	if i < 0 {
		i, s.suspects = len(s.suspects), append(s.suspects, Suspect{change: *a.Change})
	}
	for _, shown := range a.Shown {
		if !slices.Contains(s.suspects[i].paths, shown.Path) {
			s.suspects[i].paths = append(s.suspects[i].paths, shown.Path)
		}
	}
}

// Cut returns how many answers were longer than their limit, and how many characters they lost.
func (s *Seen) Cut() (answers, characters int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cut, s.left
}

// Shown returns all that was shown.
func (s *Seen) Shown() []Shown {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.shown)
}

// Suspect returns a commit as a suspect, by its SHA or the beginning of it, at least seven digits. It is false where no diff of it was shown.
func (s *Seen) Suspect(repo, sha string) (Suspect, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.suspects {
		if o.change.Repo == repo && samePrefix(o.change.SHA, sha) {
			return o, true
		}
	}
	return Suspect{}, false
}

// samePrefix reports whether given is a SHA or its beginning.
func samePrefix(sha, given string) bool { return len(given) >= 7 && strings.HasPrefix(sha, given) }

// A Quote is lines that somebody says stand in a file.
type Quote struct {
	Repo string `json:"repo"`
	SHA  string `json:"sha"` // at least seven digits
	Path string `json:"path"`
	Line int    `json:"line"` // of the first of them
	Text string `json:"text"` // spaces at both ends of a line do not count
}

// Check returns an error that says why a quote does not match what was shown, nil where it does: its lines are parts of the lines of the file that
// were shown, from Quote.Line on.
func (s *Seen) Check(q Quote) error {
	want := strings.Split(strings.Trim(q.Text, "\r\n"), "\n")
	if strings.TrimSpace(q.Text) == "" {
		return fmt.Errorf("nothing is quoted of %s", q.Path)
	}
	read := false
	for _, shown := range s.Shown() {
		if shown.Repo != q.Repo || shown.Path != q.Path || !samePrefix(shown.SHA, q.SHA) {
			continue
		}
		read = true
		if shown.holds(q.Line, want) {
			return nil
		}
	}
	if !read {
		return fmt.Errorf("nothing of %s at %s was shown", q.Path, shortSHA(q.SHA))
	}
	return fmt.Errorf("what was shown of %s does not have this text in line %d", q.Path, q.Line)
}

// holds reports whether lines stand in what was shown, from a line on.
func (s *Shown) holds(n int, want []string) bool {
	if n < s.FromLine || n+len(want)-1 > s.ToLine {
		return false
	}
	lines := strings.Split(s.Text, "\n")
	for i, w := range want {
		at := n - s.FromLine + i
		if at >= len(lines) || !strings.Contains(lines[at], strings.TrimSpace(w)) {
			return false
		}
	}
	return true
}

// seenJSON is a Seen as it is kept.
type seenJSON struct {
	Shown   []Shown        `json:"shown,omitempty"`
	Changes []seenSuspects `json:"changes,omitempty"`
}

type seenSuspects struct {
	Change
	Diffs []string `json:"diffs"`
}

// MarshalJSON returns what was shown, to be kept.
func (s *Seen) MarshalJSON() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := seenJSON{Shown: s.shown}
	for _, o := range s.suspects {
		out.Changes = append(out.Changes, seenSuspects{Change: o.change, Diffs: o.paths})
	}
	return json.Marshal(out)
}

// UnmarshalJSON takes up what was kept.
func (s *Seen) UnmarshalJSON(data []byte) error {
	var in seenJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("read what was shown: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown, s.suspects = in.Shown, nil
	for _, o := range in.Changes {
		s.suspects = append(s.suspects, Suspect{change: o.Change, paths: o.Diffs})
	}
	return nil
}
