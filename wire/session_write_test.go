package wire_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire"
)

const record = "[Decant record of m1 to m9. It is no message of the user.]\nTask: \"do\" it\n"

// covered returns decisions that cover a random range of rounds of c and edit blocks that stay.
func covered(t *rapid.T, c *decant.Conversation) []decant.Decision {
	cuts := decant.Cuts(c.Messages)
	a := rapid.IntRange(0, min(3, len(cuts)-2)).Draw(t, "from")
	z := rapid.IntRange(a+1, len(cuts)-1).Draw(t, "to")
	cp := &decant.Checkpoint{
		Number: 1, From: c.Messages[cuts[a]].Number, To: c.Messages[cuts[z]-1].Number, Summary: record,
		Placement: rapid.SampledFrom([]decant.Placement{decant.PlaceMessage, decant.PlaceAppend}).Draw(t, "placement"),
	}
	if rapid.Bool().Draw(t, "reply") {
		cp.Reply = "Understood."
	}
	ds := []decant.Decision{{ID: "c", Kind: decant.Cover, Checkpoint: cp}}
	return append(ds, edits(t, c, func(n int) bool { return n < cp.From || n > cp.To })...)
}

// edits returns decisions that replace results and drop thinking in some of the messages.
func edits(t *rapid.T, c *decant.Conversation, in func(number int) bool) []decant.Decision {
	every := rapid.IntRange(1, 4).Draw(t, "every")
	var ds []decant.Decision
	for i := range c.Messages {
		for k := range c.Messages[i].Blocks {
			b := &c.Messages[i].Blocks[k]
			if !in(c.Messages[i].Number) || (i+k)%every != 0 {
				continue
			}
			d := decant.Decision{ID: fmt.Sprint("d", i, ".", k), Target: decant.TargetOf(b), Text: "[left out: \"x\"\n]"}
			switch b.Kind {
			case decant.KindResult:
				d.Kind = decant.Stub
			case decant.KindThinking:
				d.Kind = decant.DropThinking
			default:
				continue
			}
			ds = append(ds, d)
		}
	}
	return ds
}

func TestSessionCompactedReadsBackAsTheView(t *testing.T) {
	docs := documents(t)
	rapid.Check(t, func(t *rapid.T) {
		d := docs[rapid.SampledFrom(slices.Sorted(maps.Keys(docs))).Draw(t, "session")]
		live := d.Conversation.With(d.Conversation.Live())
		readBack(t, d, live, covered(t, live))
	})
}

func TestSessionEditedInPlaceReadsBackAsTheView(t *testing.T) {
	docs := documents(t)
	rapid.Check(t, func(t *rapid.T) {
		d := docs[rapid.SampledFrom(slices.Sorted(maps.Keys(docs))).Draw(t, "session")]
		readBack(t, d, d.Conversation, edits(t, d.Conversation, func(int) bool { return true }))
	})
}

// documents returns the excerpts of real session files, read.
func documents(tb testing.TB) map[string]*wire.Document {
	out := map[string]*wire.Document{}
	for name, src := range sessions(tb) {
		out[name] = parse(tb, src)
	}
	return out
}

// led returns what was written and what was read without messages that configure the model before it has said anything: a
// reader of a rollout may take them for the system prompt. None of them may be missing.
func led(t *rapid.T, want, got []decant.Message, system []decant.Block) (written, read []decant.Message) {
	written, leading := unled(want)
	read, found := unled(got)
	for i := range leading {
		h := leading[i].Hash()
		if !slices.ContainsFunc(slices.Concat(found, system), func(b decant.Block) bool { return b.Hash() == h }) {
			t.Fatalf("%v is lost", leading[i].Ref)
		}
	}
	return written, read
}

// unled returns messages without those of the system in front of the model's first one, and the blocks of these.
func unled(ms []decant.Message) (out []decant.Message, led []decant.Block) {
	for i := range ms {
		switch ms[i].Role {
		case decant.RoleAssistant:
			return append(out, ms[i:]...), led
		case decant.RoleSystem:
			led = append(led, ms[i].Blocks...)
		default:
			out = append(out, ms[i])
		}
	}
	return out, led
}

// readBack writes the view of c under ds and checks what a reader of the file finds in it.
func readBack(t *rapid.T, d *wire.Document, c *decant.Conversation, ds []decant.Decision) {
	view, err := decant.View(c, ds)
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Render(view)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Render(view)
	if err != nil || !bytes.Equal(out, again) {
		t.Fatalf("a second time the view is written otherwise: %v", err)
	}
	got, err := wire.Parse(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got.Format != d.Format || len(got.Warnings) > len(d.Warnings) {
		t.Fatalf("got format %s, warnings %v", got.Format, got.Warnings)
	}
	want := view.Messages
	if len(c.Messages) == len(d.Conversation.Messages) {
		want = view.Live()
	}
	if d.Format == wire.Pi {
		want = summaryFirst(want)
	}
	live := got.Conversation.Live()
	if d.Format == wire.Codex {
		want, live = led(t, want, live, got.Conversation.Fixed.System)
	}
	if diff := cmp.Diff(readable(want), readable(live)); diff != "" {
		t.Fatalf("read back (-want +got):\n%s\n%s", diff, out)
	}
	checkSession(t, d, out)
}

// readable returns an outline in which what Decant wrote is the client's, as it is for a reader.
func readable(ms []decant.Message) []string {
	out := outline(ms)
	for i := range out {
		out[i] = strings.Replace(out[i], `"decant"`, `"client"`, 1)
		if strings.HasSuffix(out[i], " Understood.") {
			out[i] = strings.Replace(out[i], `"model"`, `"client"`, 1)
		}
	}
	return out
}

// summaryFirst moves a checkpoint in front of what stands before it: pi has no other place for it. An
// earlier summary that stands before it becomes a part of it.
func summaryFirst(ms []decant.Message) []decant.Message {
	ms = slices.Clone(ms)
	for k := range ms {
		if ms[k].Compaction && len(ms[k].Blocks) > 1 { // has room for one text
			ms[k].Blocks = []decant.Block{{Kind: decant.KindText, Author: decant.AuthorClient, Content: decant.Text(ms[k].Text())}}
		}
	}
	i := slices.IndexFunc(ms, func(m decant.Message) bool { return m.Number == 0 && m.Role == decant.RoleUser })
	if i < 0 {
		return ms
	}
	point := ms[i]
	rest := slices.Delete(slices.Clone(ms), i, i+1)
	for k := i - 1; k >= 0; k-- {
		if rest[k].Compaction {
			text := rest[k].Text() + "\n\n" + point.Text()
			point.Blocks = []decant.Block{{Kind: decant.KindText, Author: decant.AuthorClient, Content: decant.Text(text)}}
			rest = slices.Delete(rest, k, k+1)
		}
	}
	return slices.Insert(rest, 0, point)
}

// checkSession checks what a client relies on when it reads its own file.
func checkSession(t *rapid.T, d *wire.Document, out []byte) {
	var lines []map[string]string
	for rest := bytes.TrimSpace(out); len(rest) > 0; {
		sc := jsonspan.Scan(rest, 0)
		line := sc.Skip().Of(rest)
		if err := jsonspan.Validate(line); err != nil {
			t.Fatalf("line %d: %v\n%s", len(lines)+1, err, line)
		}
		lines = append(lines, object(line))
		rest = bytes.TrimSpace(rest[len(line):])
	}
	switch d.Format {
	case wire.ClaudeCode:
		checkClaudeCode(t, d.Source, lines)
	case wire.Codex:
		checkCodex(t, lines)
	case wire.Pi:
		checkPi(t, lines)
	}
}

// object returns the members of a JSON object as they are written.
func object(line []byte) map[string]string {
	out := map[string]string{}
	sc := jsonspan.Scan(line, 0)
	for sc.Open(); sc.Next(); {
		name := string(sc.Name())
		out[name] = string(sc.Skip().Of(line))
	}
	return out
}

// From the last line of the conversation the parents lead to the boundary, if there is one, and no
// line that Decant wrote has the uuid of another.
func checkClaudeCode(t *rapid.T, src []byte, lines []map[string]string) {
	parents := map[string]string{}
	boundary, last := "", ""
	for i, l := range lines {
		id := l["uuid"]
		if _, twice := parents[id]; twice && bytes.Count(src, []byte(`"uuid":`+id)) < 2 {
			t.Fatalf("line %d: uuid %s stands twice", i+1, id)
		}
		if id != "" && l["isSidechain"] != "true" {
			parents[id], last = l["parentUuid"], id
		}
		if l["subtype"] == `"compact_boundary"` {
			if l["parentUuid"] != "null" || l["sessionId"] == "" || l["timestamp"] == "" || l["compactMetadata"] == "" {
				t.Fatalf("line %d: the boundary lacks something: %v", i+1, l)
			}
			boundary = id
		}
	}
	at := last
	for n := 0; parents[at] != "" && parents[at] != "null"; n++ {
		if at = parents[at]; n > len(lines) {
			t.Fatal("the parents of the last line lead in a circle")
		}
	}
	if boundary != "" && at != boundary {
		t.Fatalf("the parents of the last line lead to %s, want the boundary %s", at, boundary)
	}
}

// The file begins with its session_meta line, and items are the API's own.
func checkCodex(t *rapid.T, lines []map[string]string) {
	if lines[0]["type"] != `"session_meta"` {
		t.Fatalf("the file begins with a line of type %s", lines[0]["type"])
	}
	for i, l := range lines {
		if l["type"] == "" || l["payload"] == "" || l["timestamp"] == "" {
			t.Fatalf("line %d lacks something: %v", i+1, l)
		}
	}
}

// Every entry's parent is the entry before it or one before that, and the first message that a
// compaction kept is in the file.
func checkPi(t *rapid.T, lines []map[string]string) {
	if lines[0]["type"] != `"session"` {
		t.Fatalf("the file begins with a line of type %s", lines[0]["type"])
	}
	seen := map[string]bool{}
	for i, l := range lines[1:] {
		if p := l["parentId"]; p != "" && p != "null" && !seen[p] {
			t.Fatalf("line %d: parent %s is no entry before it", i+2, p)
		}
		if l["id"] != "" {
			seen[l["id"]] = true
		}
		if id := l["firstKeptEntryId"]; id != "" && !seen[id] {
			t.Fatalf("line %d: first kept entry %s is not in the file", i+2, id)
		}
		if n, err := strconv.Atoi(l["firstKeptEntryIndex"]); err == nil && n > i+1 {
			t.Fatalf("line %d: first kept line %d is behind it", i+2, n)
		}
	}
}

// Each archive holds a session, the range that a checkpoint covers, and the file that comes of it.
func TestSessionCompactedGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/sessions/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files: ", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) { goldenCompacted(t, name) })
	}
}

func goldenCompacted(t *testing.T, name string) {
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	d := parse(t, a.Files[0].Data)
	cp := &decant.Checkpoint{Number: 1, Summary: "[Decant record of two messages.]\nThe number is 42."}
	if _, err := fmt.Sscanf(string(a.Files[1].Data), "m%d to m%d", &cp.From, &cp.To); err != nil {
		t.Fatal(err)
	}
	view, err := decant.View(d.Conversation, []decant.Decision{{ID: "c", Kind: decant.Cover, Checkpoint: cp}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Render(view)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		a.Files[2].Data = got
		if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(a.Files[2].Data), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A block that a view adds behind one that fills its item has no line in the source: its message is written anew.
func TestSessionKeepsABlockThatAViewAddsBehindAResult(t *testing.T) {
	src := `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}}
{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"function_call","call_id":"c1","name":"sh","arguments":"{}"}}
{"timestamp":"2026-01-01T00:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"done"}}
`
	d, err := wire.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	ms := slices.Clone(d.Conversation.Messages)
	note := decant.Block{Kind: decant.KindText, Author: decant.AuthorDecant, Content: decant.Text("a note behind the result")}
	ms[2].Blocks = append(slices.Clone(ms[2].Blocks), note)
	out, err := d.Render(d.Conversation.With(ms[1:]))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"a note behind the result": true, "done": true, `"c1"`: true, "hello": false} {
		if got := bytes.Contains(out[len(src):], []byte(text)); got != want {
			t.Errorf("%q is in the file: %v, want %v:\n%s", text, got, want, out)
		}
	}
}
