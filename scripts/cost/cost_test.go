package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../../"

func TestCompare(t *testing.T) {
	accepted := &costs{
		Figures: []figure{{Name: "same", Value: 10}, {Name: "dearer", Value: 10}, {Name: "cheaper", Value: 10}, {Name: "gone", Value: 10}},
		Plans:   map[string][]string{"SELECT a": {"SCAN a"}, "SELECT b": {"SCAN b"}},
	}
	now := &costs{
		Figures: []figure{{Name: "same", Value: 12.4}, {Name: "dearer", Value: 12.6}, {Name: "cheaper", Value: 7.9}, {Name: "new", Value: 1}},
		Plans:   map[string][]string{"SELECT a": {"SCAN a", "USE TEMP B-TREE FOR ORDER BY"}, "SELECT c": {"SCAN c"}},
	}
	var out bytes.Buffer
	dearer, hints := compare(&out, accepted, now)
	begin := func(ss []string) (out []string) {
		for _, s := range ss {
			word, _, _ := strings.Cut(strings.TrimPrefix(s, "store/sqlite, statement "), ":")
			out = append(out, word)
		}
		return out
	}
	if got, want := begin(dearer), []string{"dearer", "new is new", `"SELECT a"`, `"SELECT c"`}; !slices.Equal(got, want) {
		t.Errorf("dearer: %q, want %q", got, want)
	}
	if got, want := begin(hints), []string{"cheaper", "gone is accepted and no longer measured", `"SELECT b"`}; !slices.Equal(got, want) {
		t.Errorf("hints: %q, want %q", got, want)
	}
	for _, s := range []string{"measure", "+24 %", "+26 %", "-21 %"} {
		if !strings.Contains(out.String(), s) {
			t.Errorf("the table lacks %q:\n%s", s, &out)
		}
	}
}

// Beside other programs processor time is not judged, and everything else is.
func TestABusyMachine(t *testing.T) {
	accepted := &costs{Figures: []figure{{Name: "a" + cpuTime, Value: 10}, {Name: "a: allocations", Value: 10}}}
	now := &costs{Figures: []figure{{Name: "a" + cpuTime, Value: 20}, {Name: "a: allocations", Value: 20}}}
	for others, want := range map[float64]int{0: 2, quiet: 2, 2 * quiet: 1} {
		now.Others = others
		if dearer, hints := compare(&bytes.Buffer{}, accepted, now); len(dearer) != want || len(hints) != 2-want {
			t.Errorf("others use %v: dearer %q, hints %q", others, dearer, hints)
		}
	}
	if busy, all, err := processors(); err != nil || busy <= 0 || all < busy {
		t.Errorf("%d ticks of %d, %v", busy, all, err)
	}
}

func TestAccepting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cost.json")
	made := &costs{Plans: map[string][]string{"SELECT a": {"SCAN a"}}}
	made.add("a", 1.23456, "times")
	if err := made.write(file); err != nil {
		t.Fatal(err)
	}
	read, err := readCosts(file)
	if err != nil || read.Figures[0].Value != 1.23 || read.Plans["SELECT a"][0] != "SCAN a" {
		t.Errorf("read %+v, %v", read, err)
	}
}

// Conversations are requests that the API takes, as large as was asked for, and the same each time; no two share words.
func TestTalks(t *testing.T) {
	k, err := newTalk(root + session)
	if err != nil {
		t.Fatal(err)
	}
	const size, rounds = 40_000, 20
	bodies := k.grow(3, size, rounds)
	var last, other struct{ Messages []message }
	if err := json.Unmarshal(bodies[rounds-1], &last); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(k.body(k.messages(4, size)), &other); err != nil {
		t.Fatal(err)
	}
	if n := len(bodies[0]); n < size || n > size*3/2 || len(bodies) != rounds {
		t.Errorf("%d bodies, the first of %d bytes; want %d, and about %d", len(bodies), n, rounds, size)
	}
	calls := map[any]bool{}
	for i, m := range last.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			t.Fatalf("message %d is of %s, want %s", i, m.Role, want)
		}
		for _, b := range m.Content {
			calls[b["id"]] = true
			if id := b["tool_use_id"]; id != nil && !calls[id] {
				t.Errorf("message %d answers the call %v, which nobody made", i, id)
			}
		}
	}
	if a, b := last.Messages[0].Content[0]["text"], other.Messages[0].Content[0]["text"]; a == b {
		t.Errorf("two conversations begin with %q", a)
	}
	if !bytes.Equal(bodies[0], k.grow(3, size, 1)[0]) {
		t.Error("the same conversation is another one the second time")
	}
}
