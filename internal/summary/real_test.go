package summary_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/secret"
	"github.com/decantdev/decant/internal/summary"
	"github.com/decantdev/decant/internal/typed"
	"github.com/decantdev/decant/token"
	"github.com/decantdev/decant/wire"
)

// dataEnv names a folder with more sessions: AGENT/.../*.jsonl.gz. Those of testdata are always read.
const dataEnv = "DECANT_DATA"

// A session is a real one, with an index of its own of what stands where: nothing of it comes from what makes
// records.
type session struct {
	name     string
	messages []decant.Message
	calls    []made
	lines    map[int]map[string]bool // of each message, all lines that somebody wrote in it or that came back
	wide     map[int][]string        // of each message, the lines that are too long to be quoted whole
	typed    []utterance
	answers  string // results of the tools by which clients ask people
}

// A made is one call with what came of it.
type made struct {
	number, answered int // of the messages of the call and of its result
	name, args       string
	values           []string // the strings in args
	result           string
	failed           bool
}

// An utterance is a text that a person typed.
type utterance struct {
	number int
	text   string
}

// sessions returns the sessions of testdata, and those in the folder that dataEnv names.
func sessions(t *testing.T) (out []*session) {
	t.Helper()
	files, err := filepath.Glob("../../testdata/*.jsonl.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for _, agent := range []string{"claude-code", "codex", "copilot-cli", "pi"} {
		if dir := os.Getenv(dataEnv); dir != "" {
			err = filepath.WalkDir(filepath.Join(dir, agent), func(name string, _ fs.DirEntry, err error) error {
				if strings.HasSuffix(name, ".jsonl.gz") {
					files = append(files, name)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range files {
		out = append(out, readSession(t, name))
	}
	return out
}

func readSession(t *testing.T, name string) *session {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := wire.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	d, err := wire.Parse(src)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	s := &session{
		name: filepath.Base(name), messages: d.Conversation.Live(), lines: map[int]map[string]bool{},
		wide: map[int][]string{},
	}
	open := map[string]int{}
	for i := range s.messages {
		for k := range s.messages[i].Blocks {
			s.block(&s.messages[i], &s.messages[i].Blocks[k], open)
		}
	}
	return s
}

// asking are the tools by which clients ask people.
var asking = []string{"AskUserQuestion", "ask_user", "request_user_input"}

func (s *session) block(m *decant.Message, b *decant.Block, open map[string]int) {
	body := secret.Mask(b.Text())
	switch b.Kind {
	case decant.KindText:
		s.say(m.Number, body)
		if b.Author == decant.AuthorUser && !m.Compaction {
			if text := strings.TrimSpace(typed.Words("", body)); text != "" {
				s.typed = append(s.typed, utterance{m.Number, text})
			}
		}
	case decant.KindUse:
		c := made{number: m.Number, name: b.Name, args: body, values: stringsIn(body)}
		for _, v := range c.values {
			s.say(m.Number, v)
		}
		open[b.CallID] = len(s.calls)
		s.calls = append(s.calls, c)
	case decant.KindResult:
		body = strings.NewReplacer("<tool_use_error>", "", "</tool_use_error>", "").Replace(body) // around what the tool says
		at, ok := open[b.CallID]
		if !ok {
			s.say(m.Number, body)
			return
		}
		c := &s.calls[at]
		c.answered, c.result, c.failed = m.Number, body, b.Error
		for _, text := range append(stringsIn(body), body) {
			s.say(m.Number, text)
			s.say(c.number, text)
		}
		if slices.Contains(asking, c.name) {
			s.answers += body + "\n"
		}
		if _, words, ok := strings.Cut(body, "the user said:\n"); ok && b.Error {
			s.typed = append(s.typed, utterance{m.Number, words})
		}
	}
}

// lineNumber is what tools put before the lines of a file.
var lineNumber = regexp.MustCompile(`^ *\d+(→|\t)`)

// say notes the lines of a text.
func (s *session) say(message int, text string) {
	if s.lines[message] == nil {
		s.lines[message] = map[string]bool{}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(lineNumber.ReplaceAllString(strings.TrimRight(line, "\r\n"), ""))
		line = strings.TrimSuffix(line, ",") // behind a member of JSON, which is quoted without it
		isJSON := strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[")
		if s.lines[message][line] = true; len(line) > 400 || isJSON {
			s.wide[message] = append(s.wide[message], line)
		}
		for _, inner := range stringsIn(line) { // lines of texts in JSON
			if isJSON && inner != line {
				s.say(message, inner)
			}
		}
	}
}

// has reports whether a message has a line, as a whole or as a piece of one that is too long.
func (s *session) has(message int, line string) bool {
	return s.lines[message][line] || slices.ContainsFunc(s.wide[message], func(w string) bool {
		return strings.Contains(w, line)
	})
}

// stringsIn returns the strings and numbers in a JSON text; the text itself when it is none.
func stringsIn(text string) (out []string) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return []string{text}
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case json.Number:
			out = append(out, v.String())
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return out
}

// record returns the record of a session within a share of its tokens.
func (s *session) record(t *testing.T, share float64) summary.Summary {
	t.Helper()
	est := token.For(token.Model{})
	out, err := summary.Extract(context.Background(), s.messages, summary.Options{
		Budget: int(share * float64(est.Messages(s.messages))), Counter: est,
	})
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	return out
}

// everyRecord calls check with records of all sessions in several sizes.
func everyRecord(t *testing.T, check func(t *testing.T, s *session, record string)) {
	t.Helper()
	for _, s := range sessions(t) {
		for _, share := range []float64{.05, .1, .2, .4} {
			t.Run(fmt.Sprintf("%s/%v%%", s.name, 100*share), func(t *testing.T) { check(t, s, s.record(t, share).Text) })
		}
	}
}

// Names with the escape of a tab before them, half lines and fragments were quoted. What is quoted is a
// whole line of what its heading names.
func TestQuotesAreWholeLinesOfTheirSource(t *testing.T) {
	quotes := 0
	everyRecord(t, func(t *testing.T, s *session, record string) {
		head := ""
		for line := range strings.Lines(raw(record, "Quotes")) {
			line = strings.TrimRight(line, "\n")
			quote, ok := strings.CutPrefix(line, "  ")
			if !ok {
				head = line
				continue
			}
			if quote = strings.TrimSuffix(strings.TrimSpace(quote), ","); quote == "…" {
				continue
			}
			if quotes++; !slices.ContainsFunc(s.behind(head), func(n int) bool { return s.has(n, quote) }) {
				t.Errorf("%q is no line of %q", quote, head)
			}
		}
	})
	if quotes == 0 {
		t.Error("nothing is quoted")
	}
}

// raw returns a part of a record as it is written.
func raw(record, head string) string {
	_, body, _ := strings.Cut(record, "\n# "+head+"\n")
	body, _, _ = strings.Cut(body, "\n# ")
	return body
}

// cited is the number of a message at the beginning of a line.
var cited = regexp.MustCompile(`^m(\d+) `)

// behind returns the messages that a heading of quotes names: one by its number, or those whose calls name a file.
func (s *session) behind(head string) (out []int) {
	if m := cited.FindStringSubmatch(head); m != nil {
		n, _ := strconv.Atoi(m[1])
		return []int{n}
	}
	file := strings.TrimSuffix(head, ":")
	for _, c := range s.calls {
		if slices.ContainsFunc(c.values, func(v string) bool { return strings.Contains(v, file) }) {
			out = append(out, c.number)
		}
	}
	return out
}

// A fifth to two fifths of a record were lists of names. Passages that are nothing but names are a
// twentieth of it at most; headings, the trail, and what stands there whole, the user's words, an error and the
// last that was said, aside.
func TestBareNamesAreFew(t *testing.T) {
	est := token.For(token.Model{})
	everyRecord(t, func(t *testing.T, _ *session, record string) {
		all, bare, part, run, mere := est.Count(record), 0, "", 0, true
		end := func() {
			if mere {
				bare += run
			}
			run, mere = 0, true
		}
		for line := range strings.Lines(record) {
			if head, ok := strings.CutPrefix(line, "# "); ok {
				part = strings.TrimSpace(head)
				continue
			}
			heading, gap := part == "Quotes" && !strings.HasPrefix(line, "  "), strings.TrimSpace(line) == "…"
			switch {
			case slices.Contains([]string{"User", "Files", "State", "Last"}, part):
			case heading || gap || part != "Quotes":
				end()
				if !heading && !gap && saysNothing(line) {
					bare += est.Count(line)
				}
			default:
				run += est.Count(line)
				mere = mere && saysNothing(line)
			}
		}
		end()
		if 20*bare > all {
			t.Errorf("%d of %d tokens are bare names", bare, all)
		}
	})
}

// plainWord is a word that is no part of a name.
var plainWord = regexp.MustCompile(`(^|[^\pL\d_./\-])(\p{Lu}?\p{Ll}{3,})($|[^\pL\d_./\-]|[.]+($|[^\pL\d_./\-]))|[\x{3000}-\x{9fff}]`)

var address = regexp.MustCompile(`\w+://[\w./\-:]*`)

// saysNothing reports whether a line has no word in it but names, and is no statement of source.
func saysNothing(line string) bool {
	line = address.ReplaceAllString(cited.ReplaceAllString(strings.TrimSpace(line), ""), "_")
	return line != "" && !strings.ContainsAny(line, "(){}=<>;|&!") && !plainWord.MatchString(line)
}

// Every fourth text that somebody had typed was not whole in a record of a tenth.
func TestEverythingTypedIsWholeAtATenth(t *testing.T) {
	texts := 0
	for _, s := range sessions(t) {
		record := squeezed(s.record(t, .1).Text)
		for _, u := range s.typed {
			if strings.Count(u.text, "\n") >= 12 || utf8.RuneCountInString(u.text) > 1500 {
				continue // pasted
			}
			if texts++; !strings.Contains(record, squeezed(u.text)) {
				t.Errorf("%s: m%d is not whole: %.200q", s.name, u.number, u.text)
			}
		}
	}
	if texts == 0 {
		t.Error("nobody typed anything")
	}
}

// squeezed returns a text without its line breaks and indents.
func squeezed(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// What stands as the user's was typed by the user, or answered to the client's question.
func TestTheUsersLinesOfRealSessions(t *testing.T) {
	everyRecord(t, func(t *testing.T, s *session, record string) {
		var all bytes.Buffer
		for _, u := range s.typed {
			all.WriteString(u.text + "\n")
		}
		all.WriteString(s.answers)
		for _, head := range []string{"User", "Rules", "Questions and answers"} {
			for line := range strings.Lines(raw(record, head)) {
				line = strings.TrimSpace(line)
				said := cited.ReplaceAllString(line, "")
				switch {
				case strings.HasPrefix(line, "[… ") || strings.HasPrefix(said, "asked: "):
				case !strings.Contains(all.String(), line) &&
					!strings.Contains(all.String(), strings.TrimPrefix(said, "answered: ")):
					t.Errorf("%q stands under %s", line, head)
				}
			}
		}
	})
}

// A heading says that there is something under it.
func TestHeadingsHaveLines(t *testing.T) {
	everyRecord(t, func(t *testing.T, _ *session, record string) {
		for head, body := range summary.Sections(record) {
			if body == "" {
				t.Errorf("nothing stands under %s", head)
			}
		}
	})
}

// A fate is what became of a file by one call, as the transcript tells.
type fate struct {
	number int
	verb   string // changed: made, too; deleted
	path   string
}

// fates returns what the calls of a session did to files, as far as it takes no shell to tell: by tools that
// name the file, by patches, and by commands without quotes, variables and the like.
func (s *session) fates() (out []fate) {
	for _, c := range s.calls {
		if c.answered == 0 || c.failed || exited.MatchString(c.result) {
			continue
		}
		add := func(verb, path string) { out = append(out, fate{c.number, verb, path}) }
		args := map[string]any{}
		_ = json.Unmarshal([]byte(c.args), &args) // a patch is none
		for _, v := range append(c.values, c.args) {
			if strings.Contains(v, "*** Begin Patch\n") {
				for _, m := range patchHead.FindAllStringSubmatch(v, -1) {
					add(map[string]string{"Delete": "deleted"}[m[1]], m[2])
				}
				break
			}
		}
		for _, name := range []string{"file_path", "path", "notebook_path"} {
			if path, ok := args[name].(string); ok && slices.Contains(changing, c.name) {
				add("", path)
				break
			}
		}
		for _, name := range []string{"command", "cmd"} {
			if command, ok := args[name].(string); ok && !strings.ContainsAny(command, "'\"`$(){}<*?[\\#~") {
				for _, d := range simple(command) {
					add(d[0], d[1])
				}
			}
		}
	}
	return out
}

var (
	changing  = []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "write", "edit", "create"}
	patchHead = regexp.MustCompile(`(?m)^\*\*\* (Add|Update|Delete) File: (.+)$`)
	exited    = regexp.MustCompile(`(?i)(?:exit(?:ed with)? code:? |exited with )([1-9]\d*)`)
)

// simple returns what a plain shell command does to files: what it does, and to which.
func simple(command string) (out [][2]string) {
	for part := range strings.FieldsFuncSeq(command, func(r rune) bool { return strings.ContainsRune("&;|\n", r) }) {
		words := strings.Fields(part)
		for i, w := range words {
			if (w == ">" || w == ">>") && i+1 < len(words) && !strings.HasPrefix(words[i+1], "/dev/") {
				out = append(out, [2]string{"", words[i+1]})
			}
		}
		if len(words) < 2 || words[0] != "rm" && words[0] != "mv" || strings.Contains(part, ">") {
			continue
		}
		operands := slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") })
		if words[0] == "mv" && len(operands) == 2 {
			out = append(out, [2]string{"deleted", operands[0]})
		}
		if words[0] == "rm" {
			for _, o := range operands {
				out = append(out, [2]string{"deleted", o})
			}
		}
	}
	return out
}

// A trail is a line of the part Files.
type trail struct{ path, history string }

func trails(record string) (out []trail) {
	for line := range strings.Lines(raw(record, "Files")) {
		path, history, _ := strings.Cut(strings.TrimSpace(line), ": ")
		history, _, _ = strings.Cut(history, "; ")
		out = append(out, trail{path, history})
	}
	return out
}

// The trail of files is what the transcript says: nothing is missing in it, and nothing in it is made up.
func TestTheTrailIsThatOfTheTranscript(t *testing.T) {
	changes := 0
	for _, s := range sessions(t) {
		newest := map[string]fate{}
		for _, f := range s.fates() {
			newest[f.path] = f
		}
		files := trails(s.record(t, .2).Text)
		for path, f := range newest {
			changes++
			if !slices.ContainsFunc(files, func(tr trail) bool { return sameFile(tr.path, path) && tr.tells(f) }) {
				t.Errorf("%s: m%d is the newest change of %s %s, the trail says %v", s.name, f.number, path, f.verb, about(files, path))
			}
		}
		for _, tr := range files {
			s.checkTrail(t, tr)
		}
	}
	if changes == 0 {
		t.Error("nothing was changed")
	}
}

// sameFile reports whether a path of the trail is the one that a call names, which may be relative to a folder.
func sameFile(path, named string) bool {
	named = strings.TrimPrefix(filepath.Clean(named), "./")
	return path == named || strings.HasSuffix(path, "/"+strings.TrimLeft(named, "./")) || strings.HasSuffix(named, "/"+path)
}

func about(files []trail, path string) (out []trail) {
	for _, tr := range files {
		if filepath.Base(tr.path) == filepath.Base(path) {
			out = append(out, tr)
		}
	}
	return out
}

// dated is a part of a file's history with the number of its message.
var dated = regexp.MustCompile(`([a-z ]+?)(?: \d+ times, last| from \S+|) m(\d+)`)

// tells reports whether the trail has a change, or what came after it.
func (tr trail) tells(f fate) bool {
	for _, m := range dated.FindAllStringSubmatch(tr.history, -1) {
		n, _ := strconv.Atoi(m[2])
		if n > f.number || n == f.number && (f.verb == "" || strings.Contains(m[1], f.verb)) {
			return true
		}
	}
	return false
}

// counted are the statements of how often a file was made or changed.
var counted = regexp.MustCompile(`created m|from \S+ m|changed m|changed (\d+) times`)

// times returns how often the trail says that a file was made or changed.
func (tr trail) times() (n int) {
	for _, m := range counted.FindAllStringSubmatch(tr.history, -1) {
		k, err := strconv.Atoi(m[1])
		if err != nil {
			k = 1
		}
		n += k
	}
	return n
}

// writes are commands that may change a file.
var writes = regexp.MustCompile(`(^|[^2])>|\*\*\*|\b(rm|mv|cp|ln|tee|sed|perl|touch|patch|gofmt|prettier|fmt|format|checkout|restore|stash|python3?|node)\b`)

// byTools returns how often tools that name a file made or changed it; false when a shell may have done so, too.
func (s *session) byTools(path string) (n int, sure bool) {
	for _, c := range s.calls {
		if slices.Contains(changing, c.name) {
			continue
		}
		for part := range strings.FieldsFuncSeq(strings.Join(c.values, "\n"), func(r rune) bool { return strings.ContainsRune("&;|\n", r) }) {
			if writes.MatchString(part) && strings.Contains(part, filepath.Base(path)) {
				return 0, false
			}
		}
	}
	for _, f := range s.fates() {
		if f.path == path && f.verb == "" {
			n++
		}
	}
	return n, true
}

// checkTrail reports an error for each statement about a file that no call bears out.
func (s *session) checkTrail(t *testing.T, tr trail) {
	t.Helper()
	parts := dated.FindAllStringSubmatch(tr.history, -1)
	if len(parts) == 0 {
		t.Errorf("%s: %q says nothing", s.name, tr)
	}
	if n, sure := s.byTools(tr.path); sure && n != tr.times() {
		t.Errorf("%s: %s was changed %d times, the trail says %q", s.name, tr.path, n, tr.history)
	}
	for _, m := range parts {
		n, _ := strconv.Atoi(m[2])
		if !slices.ContainsFunc(s.calls, func(c made) bool {
			return c.number == n && slices.ContainsFunc(c.values, func(v string) bool { return strings.Contains(v, filepath.Base(tr.path)) })
		}) {
			t.Errorf("%s: no call in m%d names %s: %q", s.name, n, tr.path, tr.history)
		}
	}
}
