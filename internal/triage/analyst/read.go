package analyst

import (
	stdjson "encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/lazyregexp"
	"github.com/decantdev/decant/provider/sandbox"
)

// known is what a prompt holds of an investigation.
type known struct {
	class, message string
	frames         []frame // of the program's own code, innermost first

	files   []*file
	hits    []hit    // of searches
	commits []string // that touch the files, newest first
	diffs   []diff
	failed  string // the step of a request that has failed

	earlier []earlier // errors of the run

	thorough bool // the whole stack is read

	tools map[string]stdjson.RawMessage // that may be called, with their schemas
	made  map[string]bool               // calls, by name and arguments
}

// An earlier is what is told of an error that was investigated before.
type earlier struct {
	number int
	cause  string
	files  []string
}

// A frame is a level of the call stack.
type frame struct {
	path string
	line int
}

// A hit is a line that a search has found.
type hit struct {
	path string
	line int
	text string
}

// A diff is what a commit has changed, line by line without the space around them.
type diff struct {
	sha            string
	added, removed map[string]bool
	path           string         // of the file that was asked for
	at             map[string]int // the lines that were added
}

var (
	caseStart  = lazyregexp.New(`(?m)^Error #\d+ is `)
	field      = lazyregexp.New(`(?m)^> (class|message): (.*)$`)
	ownFrame   = lazyregexp.New(`(?m)^> \* (.+?):(\d+)(?: .*)?$`)
	window     = lazyregexp.New(`(?m)^(\S+)@([0-9a-f]{7,40}) (.+), lines \d+ to \d+ of \d+$`)
	version    = lazyregexp.New(`(?m)^(\S+)@([0-9a-f]{7,40}) `)
	analyzed   = lazyregexp.New(`(?m)^> - Error #(\d+): .*? — Root cause: (.*)\. Files examined: (.*)$`)
	numbered   = lazyregexp.New(`^\s*(\d+)[:>-]?\t(.*)$`)
	failedStep = lazyregexp.New(`(?m)^> step \+[^:]+: (.+?)(?: \([^()]*\))? failed: `)
	commit     = lazyregexp.New(`(?m)^([0-9a-f]{7,40}) \d{4}-\d\d-\d\d `)
)

// clearedText is what stands where an old result was.
var clearedText = lazyregexp.New(`(?i)\b(?:old|cleared|left out|removed)\b`)

// notMade begins the result of a call that was interrupted: it can be made again.
const notMade = "This call was not made"

// read reads a prompt; nil: it is about no error.
func read(p *sandbox.Prompt) *known {
	k := &known{tools: map[string]stdjson.RawMessage{}, made: map[string]bool{}}
	if p.Choice != "none" {
		for i, name := range p.Tools {
			k.tools[name] = p.Schemas[i]
		}
	}
	uses, twice, about := map[string]sandbox.Block{}, map[string]bool{}, false
	for _, m := range p.Messages {
		for _, b := range m.Blocks {
			switch b.Kind {
			case decant.KindText:
				if m.Role == decant.RoleUser && caseStart.MatchString(b.Text) {
					about = true
					k.error(b.Text)
				}
			case decant.KindUse:
				uses[b.ID] = b
				twice[b.Name+canonical(b.Input)] = k.made[b.Name+canonical(b.Input)]
				k.made[b.Name+canonical(b.Input)] = true
			case decant.KindResult:
				if u := uses[b.ID]; strings.HasPrefix(b.Text, notMade) || cleared(u, b.Text) && !twice[u.Name+canonical(u.Input)] {
					delete(k.made, u.Name+canonical(u.Input))
				} else {
					k.result(u, b.Text)
				}
			}
		}
	}
	if !about {
		return nil
	}
	return k
}

// cleared reports whether what a call has returned is no longer there: it can be made once more.
func cleared(use sandbox.Block, text string) bool {
	return use.Name == readFile && window.FindString(text) == "" && len(text) < 400 && clearedText.MatchString(text)
}

// canonical returns arguments as call writes them.
func canonical(src stdjson.RawMessage) string {
	var v map[string]any
	if json.Unmarshal(src, &v) != nil {
		return string(src)
	}
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return string(src)
	}
	return string(b)
}

// error reads what an error is.
func (k *known) error(text string) {
	for _, m := range field.FindAllStringSubmatch(text, -1) {
		if m[1] == "class" {
			k.class = m[2]
		} else {
			k.message = m[2]
		}
	}
	k.earlier = nil
	for _, m := range analyzed.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err == nil {
			k.earlier = append(k.earlier, earlier{n, m[2], strings.Split(m[3], ", ")})
		}
	}
	k.frames = nil
	for _, m := range ownFrame.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[2]); err == nil && n > 0 {
			k.frames = append(k.frames, frame{m[1], n})
		}
	}
}

// result reads what a call has returned.
func (k *known) result(use sandbox.Block, text string) {
	switch use.Name {
	case readFile:
		k.shown(text)
	case search:
		k.found(text)
	case changes:
		for _, m := range commit.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(k.commits, m[1]) {
				k.commits = append(k.commits, m[1])
			}
		}
	case change:
		k.changed(use, text)
	case traces:
		for _, m := range failedStep.FindAllStringSubmatch(text, -1) {
			k.failed = m[1] // the last one is the innermost
		}
	}
}

// shown notes lines of a file.
func (k *known) shown(text string) {
	m := window.FindStringSubmatch(text)
	if m == nil {
		return
	}
	f := k.file(m[1], m[2], m[3])
	for l := range strings.SplitSeq(text, "\n") {
		if p := numbered.FindStringSubmatch(l); p != nil {
			if n, err := strconv.Atoi(p[1]); err == nil {
				f.lines[n] = p[2]
			}
		}
	}
}

// found notes the lines that a search has shown.
func (k *known) found(text string) {
	m := version.FindStringSubmatch(text)
	if m == nil {
		return
	}
	name := ""
	for l := range strings.SplitSeq(text, "\n") {
		p := numbered.FindStringSubmatch(l)
		if p == nil {
			name = l // the lines below are of this file
			continue
		}
		if n, err := strconv.Atoi(p[1]); err == nil {
			k.hits = append(k.hits, hit{name, n, p[2]})
			k.file(m[1], m[2], name).lines[n] = p[2]
		}
	}
}

// file returns what is known of a file.
func (k *known) file(repo, sha, name string) *file {
	for _, f := range k.files {
		if f.repo == repo && f.path == name {
			return f
		}
	}
	f := &file{repo: repo, sha: sha, path: name, lines: map[int]string{}}
	k.files = append(k.files, f)
	return f
}

// changed notes what a commit has changed.
func (k *known) changed(use sandbox.Block, text string) {
	var in struct {
		SHA    string `json:"sha"`
		Commit string `json:"commit"`
		Path   string `json:"path"`
	}
	if json.Unmarshal(use.Input, &in) != nil {
		return
	}
	d := diff{sha: in.SHA + in.Commit, path: in.Path, at: map[string]int{}, added: map[string]bool{}, removed: map[string]bool{}}
	for l := range strings.SplitSeq(text, "\n") {
		if m := numberedDiff.FindStringSubmatch(l); m != nil {
			text := strings.TrimSpace(m[3])
			if m[2] == "+" {
				d.added[text] = true
				d.at[text], _ = strconv.Atoi(m[1])
			} else {
				d.removed[text] = true
			}
		}
	}
	delete(d.added, "")
	delete(d.removed, "")
	k.diffs = append(k.diffs, d)
}

var numberedDiff = lazyregexp.New(`^\s*(\d+)([+-])\t(.*)$`)

// at returns the file of a frame if its line was shown. A stack names files as the machine does that ran the program, so that one of them may
// end with the name of the other.
func (k *known) at(f frame) *file {
	for _, have := range k.files {
		if _, shown := have.lines[f.line]; shown && same(have.path, f.path) {
			return have
		}
	}
	return nil
}

// shows reports whether a line of a file was shown.
func (k *known) shows(name string, line int) bool { return k.at(frame{name, line}) != nil }

// same reports whether two names may be those of one file.
func same(a, b string) bool {
	a, b = path.Clean(a), path.Clean(b)
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// repeated reports whether no tool may be called.
func (k *known) repeated() bool { return len(k.tools) == 0 }
