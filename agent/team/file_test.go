package team_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/team"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
)

const teamFile = `depth: 2
digest: 500
members:
  - name: marco
    description: checks figures
    prompt: |
      You check figures.
    tools: [read, grep]
    model: claude-haiku-4-5
    window: 60000
    turns: 20
    budget: {tokens: 200000, usd: 0.50}
  - name: sara
    description: writes
`

func TestParse(t *testing.T) {
	f, err := team.Parse("team.yaml", []byte(teamFile))
	if err != nil {
		t.Fatal(err)
	}
	want := &team.File{Depth: 2, Digest: 500, Members: []team.Member{
		{Name: "marco", Description: "checks figures", Prompt: "You check figures.\n", Tools: []string{"read", "grep"}, Model: "claude-haiku-4-5",
			Window: 60000, Turns: 20, Budget: agent.Budget{Tokens: 200000, USD: 0.5}},
		{Name: "sara", Description: "writes"},
	}}
	if d := cmp.Diff(want, f, cmpopts.IgnoreUnexported(team.Member{})); d != "" {
		t.Error(d)
	}
}

// What is wrong with a file is said with the line and the field.
func TestParseSaysWhatIsWrong(t *testing.T) {
	for src, want := range map[string]string{
		"":                                "t.yaml:1: members: there is none",
		"members: []":                     "t.yaml:1: members: there is none",
		"members:\n- name: a\n  descr: b": `unknown field "descr"`,
		"members:\n- name: a b\n  description: c":                              "t.yaml:2: members[0].name: want 1 to 64 letters",
		"members:\n- name: a\n":                                                "t.yaml:2: members[0].description: it is missing",
		"members:\n- name: a\n  description: b\n  window: -1":                  "t.yaml:4: members[0].window: want 0 or more tokens, not -1",
		"members:\n- name: a\n  description: b\n  turns: many":                 "want a whole number, not a text",
		"members:\n- name: a\n  description: b\n  budget: {usd: -1}":           "t.yaml:4: members[0].budget: it must not be negative",
		"members:\n- name: a\n  description: b\n\n- name: a\n  description: c": "t.yaml:5: members[1].name: a is the name of the member at t.yaml:2, too",
		"depth: -1\nmembers:\n- name: a\n  description: b":                     "t.yaml:1: depth: want 1 or more, not -1",
		"members:\n- name: a\n  description: b\ndigest: 3":                     "t.yaml:4: digest: want at least 100 characters, not 3",
		"members:\n- name: a\n  description: b\n  tools: read":                 "want a list, not a text",
		"members:\n- name: a\n  name: b\n  description: b":                     "name",
	} {
		if _, err := team.Parse("t.yaml", []byte(src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", src, err, want)
		}
	}
}

// What no file can show is said by New, with the place that it comes from.
func TestNewSaysWhatIsWrong(t *testing.T) {
	w := newWorld(t, sandboxtest.Model(func(*sandbox.Prompt) sandbox.Answer { return says(text("x")) }))
	f, err := team.Parse("t.yaml", []byte("members:\n- name: a\n  description: b\n  tools: [read, fly]"))
	if err != nil {
		t.Fatal(err)
	}
	m := team.Member{Name: "a", Description: "b"}
	own := agent.Options{Engine: w.db.Engine(), Model: "claude-sonnet-4-5", Tools: []agent.Tool{readsMuch(1)}}
	for want, o := range map[string]team.Options{
		"t.yaml:2: member a: tools: there is no fly; there are: read, delegate, delegation": {Agent: own, Members: f.Members},
		"Options.Members is missing":         {Agent: own},
		"another member has it":              {Agent: own, Members: []team.Member{m, m}},
		"team: member : name: want 1 to 64":  {Agent: own, Members: []team.Member{{}}},
		"Options.Depth must not be negative": {Agent: own, Members: []team.Member{m}, Depth: -1},
		"Options.Digest must be at least":    {Agent: own, Members: []team.Member{m}, Digest: 1},
		"Options.Engine is missing":          {Members: []team.Member{m}},
	} {
		if _, err := team.New(w.client, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Files that were written for coding agents are members as they are.
func TestReadDir(t *testing.T) {
	files := fstest.MapFS{
		".claude/agents/reviewer.md": {Data: []byte("---\nname: code-reviewer\ndescription: Reviews code. Use it after each change.\ntools: Read, WebSearch\nmodel: haiku\ncolor: blue\n---\n\nYou review code.\n---\nBe short.\n")},
		".claude/agents/twin.md":     {Data: []byte("\ufeff---\r\nname: twin\r\ndescription: 'does the rest'\r\nmodel: inherit\r\n---\r\nYou do the rest.\r\n")},
		".claude/agents/list.md":     {Data: []byte("---\ndescription: has a list\ntools:\n  - read\n---\n")},
		".claude/agents/README.txt":  {Data: []byte("not one")},
	}
	ms, err := team.ReadDir(files, ".claude/agents")
	if err != nil {
		t.Fatal(err)
	}
	want := []team.Member{
		{Name: "list", Description: "has a list", Tools: []string{"read"}},
		{Name: "code-reviewer", Description: "Reviews code. Use it after each change.", Tools: []string{"Read", "WebSearch"}, Model: "haiku", Prompt: "You review code.\n---\nBe short."},
		{Name: "twin", Description: "does the rest", Model: "inherit", Prompt: "You do the rest."},
	}
	if d := cmp.Diff(want, ms, cmpopts.IgnoreUnexported(team.Member{})); d != "" {
		t.Fatal(d)
	}
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if task(p) == "" && len(sandboxtest.Results(p)) == 0 {
			return delegates(p, "code-reviewer", "twin")
		}
		return says(text("Done."))
	}))
	x := w.team(team.Options{Agent: agent.Options{Tools: []agent.Tool{readsMuch(1)}}, Members: ms})
	if want := []string{".claude/agents/reviewer.md: member code-reviewer works without WebSearch, which the coordinator does not have"}; !slices.Equal(x.Notes(), want) {
		t.Errorf("notes %q", x.Notes())
	}
	if _, _, err := ran(t, x.Agent().Run(t.Context(), "Delegate.")); err != nil {
		t.Fatal(err)
	}
	reviewer := received(t, w.find("Task code-reviewer")[0].Body)
	if !strings.HasPrefix(reviewer.model, "claude-haiku-") || strings.Contains(reviewer.tools, "delegate") || !strings.Contains(reviewer.tools, `"read"`) {
		t.Errorf("the reviewer works with %s and %s", reviewer.model, reviewer.tools)
	}
	if twin := received(t, w.find("Task twin")[0].Body); twin.model != "claude-sonnet-4-5" || twin.system != "You coordinate." {
		t.Errorf("the twin works with %s: %s", twin.model, twin.system)
	}
	w.legal()
}

func TestReadDirSaysWhatIsWrong(t *testing.T) {
	for src, want := range map[string]string{
		"You review.":                           "a/x.md: line 1: it must be ---",
		"":                                      "a/x.md: line 1: it must be ---",
		"---\nname: a\n":                        "a/x.md: the front matter has no end",
		"---\nname: a\n---\nx":                  "a/x.md:1: description: it is missing",
		"---\ndescription: d\nname: a b\n---":   "a/x.md:3: name: want 1 to 64",
		"---\ndescription: [\n---":              "a/x.md: [",
		"---\ndescription: d\ntools: 3: 4\n---": "a/x.md: [",
	} {
		_, err := team.ReadDir(fstest.MapFS{"a/x.md": {Data: []byte(src)}}, "a")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", src, err, want)
		}
	}
	if _, err := team.ReadDir(fstest.MapFS{}, "none"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("error %v", err)
	}
}

// Whatever a file holds, it is a team whose members can be named, or an error that names the file.
func FuzzParse(f *testing.F) {
	f.Add([]byte(teamFile))
	f.Add([]byte("members:\n- &a {name: a, description: b}\n- *a"))
	f.Add([]byte("members: {a: b}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := team.Parse("t.yaml", data)
		switch {
		case err != nil && !strings.Contains(err.Error(), "t.yaml"):
			t.Errorf("the error does not name the file: %v", err)
		case err == nil && (len(file.Members) == 0 || file.Members[0].Name == ""):
			t.Errorf("a team without members: %+v", file)
		}
	})
}

// Whatever a file holds, it is a member with a name, or an error that names the file.
func FuzzParseMarkdown(f *testing.F) {
	f.Add([]byte("---\nname: a\ndescription: b\ntools: Read, Grep\n---\nYou work.\n"))
	f.Add([]byte("---\ndescription: b\ntools: [a, 3, {}]\n---"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := team.ParseMarkdown("a/name.md", data)
		switch {
		case err != nil && !strings.Contains(err.Error(), "a/name.md"):
			t.Errorf("the error does not name the file: %v", err)
		case err == nil && (m.Name == "" || m.Description == ""):
			t.Errorf("a member without a name or a description: %+v", m)
		}
	})
}
