// Command scale prepares records for readers who mark them. It writes the record of each session by each of several programs,
// and the client's own summary where the session has one, in random order and without names: NN.md is a record, session-NN.jsonl
// the transcript that it stands for, anchors.md says what the marks mean, and key.csv, which readers must not see, which
// is which.
//
//	go run ./scripts/scale -o /tmp/scale                                    # sessions of testdata, this program
//	go run ./scripts/scale -o /tmp/scale -program old=/path/to/older/decant # beside an older one
//	go run ./scripts/scale -o /tmp/scale -sessions COMPACTIONS.jsonl        # other sessions: {"file","line"} on each line
//
// A line is where a session is cut: behind it the client has written a summary of its own. Without one nothing is cut.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed anchors.md
var anchors []byte

// A session is one that records are made of.
type session struct {
	File string `json:"file"`
	Line int    `json:"line"` // that it is cut in front of, counted from 1; 0: nowhere
}

// A record is what a reader gets.
type record struct {
	form    string // who wrote it
	session int    // counted from 1
	text    string
}

// programs are the programs that write records, by name.
type programs map[string]string

func (p programs) String() string { return "" }

func (p programs) Set(s string) error {
	name, path, ok := strings.Cut(s, "=")
	if !ok {
		return errors.New("want NAME=PATH")
	}
	p[name] = path
	return nil
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("scale: ")
	by := programs{}
	out := flag.String("o", "", "folder to write to")
	list := flag.String("sessions", "", "JSON lines with file and line, from their own folder on; empty: the sessions of testdata")
	size := flag.String("to", "10%", "size of the result, as for decant compact")
	most := flag.Int("n", 5, "sessions, the first of the list")
	seed := flag.Uint64("seed", 1, "of the order")
	flag.Var(by, "program", "NAME=PATH of a decant that writes records, as often as you like; this one is always among them")
	flag.Parse()
	if *out == "" {
		log.Fatal("name a folder: -o DIR")
	}
	if err := run(*out, *list, *size, *most, *seed, by); err != nil {
		log.Fatal(err)
	}
}

// run writes everything that readers need.
func run(out, list, size string, most int, seed uint64, by programs) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	built := filepath.Join(out, "decant.tmp")
	defer os.Remove(built)
	if text, err := exec.Command("go", "build", "-o", built, "./cmd/decant").CombinedOutput(); err != nil {
		return fmt.Errorf("build decant: %w: %s", err, text)
	}
	by["new"] = built
	sessions, err := sessionsOf(list)
	if err != nil {
		return err
	}
	var records []record
	for n, s := range sessions[:min(most, len(sessions))] {
		made, err := recordsOf(out, n+1, s, size, by)
		if err != nil {
			return fmt.Errorf("%s: %w", s.File, err)
		}
		records = append(records, made...)
	}
	return write(out, records, seed)
}

// sessionsOf reads a list of sessions.
func sessionsOf(list string) (out []session, err error) {
	if list == "" {
		return []session{{File: "testdata/claude-code-session.jsonl.gz"}, {File: "testdata/codex-session.jsonl.gz"}}, nil
	}
	data, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(data) {
		var s session
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", list, err)
		}
		s.File = filepath.Join(filepath.Dir(list), s.File)
		out = append(out, s)
	}
	return out, nil
}

// recordsOf returns the records of a session, and writes what they stand for as the session with a number.
func recordsOf(out string, n int, s session, size string, by programs) (rs []record, err error) {
	before, behind, err := s.read()
	if err != nil {
		return nil, err
	}
	cut := filepath.Join(out, fmt.Sprintf("session-%02d.jsonl", n))
	if err := os.WriteFile(cut, before, 0o644); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		text, err := recordBy(by[name], cut, size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		rs = append(rs, record{name, n, text})
	}
	if text := clientSummary(behind); text != "" {
		rs = append(rs, record{"client", n, text})
	}
	return rs, nil
}

// read returns the lines of a session in front of its cut, and those behind it.
func (s session) read() (before, behind []byte, err error) {
	f, err := os.Open(s.File)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var r io.Reader = bufio.NewReader(f)
	if strings.HasSuffix(s.File, ".gz") {
		if r, err = gzip.NewReader(r); err != nil {
			return nil, nil, err
		}
	}
	data, err := io.ReadAll(r)
	at := len(data)
	if s.Line > 0 {
		at = 0
		for range s.Line - 1 {
			i := bytes.IndexByte(data[at:], '\n')
			if i < 0 {
				return nil, nil, fmt.Errorf("it has fewer than %d lines", s.Line)
			}
			at += i + 1
		}
	}
	return data[:at], data[at:], err
}

// recordBy returns the record that a program makes of a session.
func recordBy(program, file, size string) (string, error) {
	cmd := exec.Command(program, "compact", "--to", size, "--as", "anthropic", file)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	data, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, errs.String())
	}
	var body struct {
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return "", err
	}
	const mark = "[Decant record of "
	for _, m := range body.Messages {
		for _, text := range texts(m.Content) {
			if i := strings.Index(text, mark); i >= 0 {
				_, rest, _ := strings.Cut(text[i:], "\n") // the mark names the program
				return rest, nil
			}
		}
	}
	return "", errors.New("the result has no record")
}

// clientSummary returns the summary that Claude Code has written behind a cut, empty when there is none.
func clientSummary(lines []byte) string {
	for line := range bytes.Lines(lines) {
		var l struct {
			Summary bool `json:"isCompactSummary"`
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		if json.Unmarshal(line, &l) == nil && l.Summary {
			text := strings.Join(texts(l.Message.Content), "\n")
			if _, rest, ok := strings.Cut(text, "Summary:"); ok { // without the words that hand it over
				text = rest
			}
			return text
		}
	}
	return ""
}

// texts returns the texts of a message's content, which is a string or a list of blocks.
func texts(content json.RawMessage) (out []string) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []string{text}
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &blocks) == nil {
		for _, b := range blocks {
			out = append(out, b.Text)
		}
	}
	return out
}

// write writes records in random order, with the key, the anchors and a sheet for the marks.
func write(out string, records []record, seed uint64) error {
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(records), func(i, k int) { records[i], records[k] = records[k], records[i] })
	key, sheet := "record,session,form\n", "record,goal,user,rules,decisions,state,next,artifacts,noise\n"
	files := map[string][]byte{"anchors.md": anchors}
	for i, r := range records {
		name := fmt.Sprintf("%02d", i+1)
		files[name+".md"] = fmt.Appendf(nil, "Record %s, of session-%02d.jsonl\n\n%s\n", name, r.session, strings.TrimSpace(r.text))
		key += fmt.Sprintf("%s,%d,%s\n", name, r.session, r.form)
		sheet += name + ",,,,,,,,\n"
	}
	files["key.csv"], files["marks.csv"] = []byte(key), []byte(sheet)
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
