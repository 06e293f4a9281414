package tools

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"

	"github.com/decantdev/decant/agent"
)

type grepArgs struct {
	Pattern    string `json:"pattern" jsonschema:"regular expression (RE2)"`
	Path       string `json:"path,omitzero" jsonschema:"file or folder to search; the project unless told"`
	Glob       string `json:"glob,omitzero" jsonschema:"search files of such names only: *.go or src/**/*.ts"`
	OutputMode string `json:"output_mode,omitzero" jsonschema:"files_with_matches unless told" enum:"content,files_with_matches,count"`
	IgnoreCase bool   `json:"-i,omitzero" jsonschema:"upper and lower case are the same"`
	After      int    `json:"-A,omitzero" jsonschema:"lines to show behind each match; for content"`
	Before     int    `json:"-B,omitzero" jsonschema:"lines to show in front of each match; for content"`
	Context    int    `json:"-C,omitzero" jsonschema:"lines to show around each match; for content"`
	HeadLimit  int    `json:"head_limit,omitzero" jsonschema:"how many lines or files; 250 unless told"`
	Offset     int    `json:"offset,omitzero" jsonschema:"how many lines or files to leave out at the beginning"`
}

func (s *Set) grepTool() agent.Tool {
	t := agent.Func("grep", "Searches the files of the project for lines that a regular expression matches. Files that are not text, and those in .git and node_modules, are left out.",
		func(ctx context.Context, _ *agent.Call, a grepArgs) (agent.Result, error) { return s.grep(ctx, a) })
	t.ReadOnly = true
	return t
}

func (s *Set) grep(ctx context.Context, a grepArgs) (r agent.Result, err error) {
	g := grep{mode: cmp.Or(a.OutputMode, "files_with_matches"), before: max(a.Before, a.Context, 0), after: max(a.After, a.Context, 0)}
	if g.mode != "content" && g.mode != "files_with_matches" && g.mode != "count" {
		return r, fmt.Errorf("output_mode is content, files_with_matches or count: %q", a.OutputMode)
	}
	expr := "(?m)" + a.Pattern
	if a.IgnoreCase {
		expr = "(?mi)" + a.Pattern
	}
	if g.pattern, err = regexp.Compile(expr); err != nil {
		return r, fmt.Errorf("pattern: %w", err)
	}
	names := cmp.Or(a.Glob, "**")
	if !strings.Contains(names, "/") {
		names = "**/" + names
	}
	match, err := wanted(names)
	if err != nil {
		return r, fmt.Errorf("glob: %w", err)
	}
	err = s.files.walk(ctx, a.Path, func(f found) error {
		if match("", f.name) {
			g.search(s.files, f)
		}
		if g.bytes > mostFound {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	what := map[string]string{"content": "lines", "files_with_matches": "files", "count": "files"}[g.mode]
	r.Text = part(g.out, a.Offset, cmp.Or(a.HeadLimit, 250), what) + g.passed()
	r.Rest = "ask with offset and head_limit, or for a narrower pattern, path or glob"
	return r, nil
}

// A grep is a search for lines.
type grep struct {
	pattern       *regexp.Regexp
	mode          string
	before, after int

	out   []string
	bytes int      // of out
	large []string // files that are too large to be searched
}

// mostFound is how many bytes of lines a search holds before it ends.
const mostFound = 32 << 20

// say adds a line to what was found.
func (g *grep) say(line string) {
	g.out = append(g.out, line)
	g.bytes += len(line)
}

// search searches a file. One that cannot be read is passed over, as one that is not text.
func (g *grep) search(files *files, f found) {
	if f.size > largest {
		g.large = append(g.large, f.name)
		return
	}
	file, _, err := files.open(f.name)
	if err != nil {
		return
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, largest))
	if err != nil || binary(data) {
		return
	}
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n")) // as read shows it
	if len(data) == 0 || !g.pattern.Match(data) {
		return
	}
	lines := strings.Split(strings.ToValidUTF8(string(bytes.TrimSuffix(data, []byte("\n"))), "\ufffd"), "\n")
	var hits []int
	for i := range lines {
		if g.pattern.MatchString(lines[i]) {
			hits = append(hits, i)
		}
	}
	if len(hits) > 0 {
		g.report(f.name, lines, hits)
	}
}

// report writes what was found in a file.
func (g *grep) report(name string, lines []string, hits []int) {
	switch g.mode {
	case "files_with_matches":
		g.say(name)
		return
	case "count":
		g.say(fmt.Sprintf("%s:%d", name, len(hits)))
		return
	}
	shown := 0 // lines in front of this one are shown or passed
	for i, at := range hits {
		from := max(at-g.before, shown)
		if from > shown && len(g.out) > 0 && (g.before > 0 || g.after > 0) {
			g.say("--")
		}
		for ; from < at; from++ {
			g.say(fmt.Sprintf("%s-%d-%s", name, from+1, lines[from]))
		}
		g.say(fmt.Sprintf("%s:%d:%s", name, at+1, lines[at]))
		end := at + 1 + min(g.after, len(lines)-at-1)
		if i+1 < len(hits) {
			end = min(end, hits[i+1])
		}
		for from = at + 1; from < end; from++ {
			g.say(fmt.Sprintf("%s-%d-%s", name, from+1, lines[from]))
		}
		shown = end
	}
}

// passed says what was not searched.
func (g *grep) passed() string {
	if g.bytes > mostFound {
		return "\n(The search was ended: too much was found.)"
	}
	if len(g.large) == 0 {
		return ""
	}
	return fmt.Sprintf("\n(Not searched, because they have more than %d bytes: %s)", largest, strings.Join(g.large[:min(len(g.large), 10)], ", "))
}
