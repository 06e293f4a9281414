package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/decantdev/decant/internal/project"
	"github.com/decantdev/decant/internal/trust"
)

// folder writes the files of an archive and returns their folder.
func folder(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// yes trusts everything.
func yes(*trust.File) error { return nil }

// load loads the project in p, from the folder at in it, with the user's folder u.
func load(t *testing.T, archive, at string) (dir string, p *project.Project) {
	t.Helper()
	dir = folder(t, archive)
	p, err := project.Load(project.Options{Dir: filepath.Join(dir, "p", at), Home: filepath.Join(dir, "u"), Trusted: yes})
	if err != nil {
		t.Fatal(err)
	}
	return dir, p
}

// The instructions of the user come first, then those of the project from its root to where the agent works, each with its imports.
func TestInstructionsAndTheirImports(t *testing.T) {
	dir, p := load(t, `
-- p/.git/HEAD --
-- u/AGENTS.md --
Speak plainly. See @more.md.
-- u/more.md --
No metaphors.
-- p/CLAUDE.md --
Build with make. @docs/style.md and (@docs/test.md), not `+"`@docs/code.md`"+`, mail me@docs/mail.md or @nobody.
`+"```\n@docs/fence.md\n```"+`
-- p/docs/style.md --
Tabs. @test.md @../CLAUDE.md
-- p/docs/test.md --
Run the tests.
-- p/docs/code.md --
not this
-- p/docs/fence.md --
not this
-- p/docs/mail.md --
not this
-- p/sub/AGENTS.md --
In sub.
-- p/sub/CLAUDE.md --
AGENTS.md wins.
-- p/other/AGENTS.md --
not this
`, "sub")
	var got []string
	for _, d := range p.Instructions {
		name, err := filepath.Rel(dir, d.Name)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(d.Text, " @")
		first, _, _ = strings.Cut(first, "\n")
		got = append(got, filepath.ToSlash(name)+": "+first)
	}
	want := []string{
		"u/AGENTS.md: Speak plainly. See", "u/more.md: No metaphors.", "p/CLAUDE.md: Build with make.", "p/docs/style.md: Tabs.",
		"p/docs/test.md: Run the tests.", "p/sub/AGENTS.md: In sub.",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(p.Warnings) > 0 {
		t.Errorf("(-want +got)\n%s\nwarnings %q", diff, p.Warnings)
	}
}

// A project cannot have files read that are not its own, and what it says is bounded.
func TestImportsStayInTheProject(t *testing.T) {
	deep := ""
	for i := range 8 {
		deep += "-- p/d" + string(rune('0'+i)) + ".md --\nlevel @d" + string(rune('1'+i)) + ".md\n"
	}
	dir, p := load(t, "-- secret.md --\nSECRET\n-- p/.git/HEAD --\n-- p/AGENTS.md --\n@../secret.md @/etc/passwd.txt @~/key.pem @link.md @large.md @d0.md\n"+
		"-- p/large.md --\n"+strings.Repeat("large\n", 30_000)+deep, "")
	if err := os.Symlink(filepath.Join(dir, "secret.md"), filepath.Join(dir, "p", "link.md")); err != nil {
		t.Fatal(err)
	}
	p, err := project.Load(project.Options{Dir: p.Dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range p.Instructions {
		if strings.Contains(d.Text, "SECRET") {
			t.Errorf("%s was read", d.Name)
		}
	}
	if n := len(p.Instructions); n != 6 {
		t.Errorf("%d documents, want AGENTS.md and five levels of imports", n)
	}
	for _, want := range []string{"@../secret.md is not read", "@/etc/passwd.txt", "@~/key.pem", "link.md is left out", "large.md is left out: it is larger than 128 KB", "@d5.md is not read: it is more than 5 imports deep"} {
		if !slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("no warning says %q: %q", want, p.Warnings)
		}
	}
}

// A skill is known by what it is for, and read when it is needed.
func TestSkills(t *testing.T) {
	_, p := load(t, `
-- p/.git/HEAD --
-- p/.claude/skills/release/SKILL.md --
---
name: release
description: >
  How to make
  a release.
allowed-tools: Bash
---
# Release

Tag it.
-- p/.claude/skills/release/scripts/tag.sh --
git tag
-- p/.claude/skills/none/SKILL.md --
Nothing is said about me.
-- p/.claude/skills/broken/SKILL.md --
---
name: [
---
-- u/skills/release/SKILL.md --
---
description: The user's.
---
-- u/skills/write/SKILL.md --
---
description: How to write.
---
Write.
`, "")
	if len(p.Skills) != 2 || p.Skills[0].Name != "release" || p.Skills[0].Description != "How to make a release." || p.Skills[1].Name != "write" {
		t.Fatalf("skills %+v", p.Skills)
	}
	text, files, err := p.Skills[0].Read()
	if err != nil || text != "# Release\n\nTag it." || !slices.Equal(files, []string{"scripts/tag.sh"}) {
		t.Errorf("%q, %q, %v", text, files, err)
	}
	if len(p.Warnings) != 2 || !strings.Contains(p.Warnings[0], "broken") || !strings.Contains(p.Warnings[1], "it has no description") {
		t.Errorf("warnings %q", p.Warnings)
	}
}

// Commands take arguments where they have places for them.
func TestCommands(t *testing.T) {
	_, p := load(t, `
-- p/.git/HEAD --
-- p/.claude/commands/fix.md --
---
description: Fix an issue
argument-hint: [issue] [how]
---
Fix #$1 $2. All: $ARGUMENTS$
-- p/.claude/commands/deep/look.md --
# Look around

Look.
-- p/.decant/commands/look.md --
Look here.
-- u/commands/say.md --
Say it.
`, "")
	say := map[string]string{}
	for _, c := range p.Commands {
		say[c.Name] = c.About + "|" + c.Hint + "|" + c.Say(" 12  quickly ")
	}
	want := map[string]string{
		"fix":  "Fix an issue|[issue] [how]|Fix #12 quickly. All: 12  quickly$",
		"look": "Look here.||Look here.\n\nARGUMENTS: 12  quickly",
		"say":  "Say it.||Say it.\n\nARGUMENTS: 12  quickly",
	}
	if diff := cmp.Diff(want, say); diff != "" {
		t.Error(diff)
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], filepath.Join("deep", "look.md")+" is left out") {
		t.Errorf("warnings %q", p.Warnings)
	}
}

// The three settings have their names. The project's come first, but a project allows nothing and cannot
// spend more than the user lets it.
func TestSettings(t *testing.T) {
	_, p := load(t, `
-- p/.git/HEAD --
-- p/.decant/config.yaml --
CompactionThresholdTokens: 60000
ProtectedTailMessages: 4
CompactionEnabled: false
max_budget_usd: 100
deny: [bash]
-- u/config.yaml --
model: claude-haiku-4-5
CompactionThresholdTokens: 70000
max_budget_usd: 2.5
max_turns: 9
allow: ["bash(git diff:*)"]
deny: [fetch]
`, "")
	threshold, tail, on := 60_000, 4, false
	want := project.Settings{Model: "claude-haiku-4-5", Threshold: &threshold, Tail: &tail, Compaction: &on, MaxTurns: 9, MaxBudget: 2.5,
		Allow: []string{"bash(git diff:*)"}, Deny: []string{"fetch", "bash"}}
	if diff := cmp.Diff(want, p.Settings); diff != "" {
		t.Error(diff)
	}
}

func TestSettingsThatCannotBe(t *testing.T) {
	for settings, want := range map[string]string{
		"allow: [bash]": "only your own settings can allow calls", "CompactionThreshold: 5": "unknown field", "max_turns: many": "want a whole number",
		"CompactionThresholdTokens: 0": "want more than 0 tokens", "ProtectedTailMessages: -1": "want 0 messages or more", "max_turns: -1": "max_turns", "max_budget_usd: -1": "max_budget_usd",
		"preset: ../x.yaml": "preset", "preset: /dev/zero": "preset", "preset: .git/../../x.yml": "preset", "preset: none.yaml": "preset", `preset: "..\\x"`: "preset",
		"max_budget_usd: .nan": "max_budget_usd", // else it would lift the user's own limit: nothing is less than it
	} {
		dir := folder(t, "-- p/.git/HEAD --\n-- p/.decant/config.yaml --\n"+settings+"\n")
		_, err := project.Load(project.Options{Dir: filepath.Join(dir, "p"), Trusted: yes})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Join(".decant", "config.yaml")) {
			t.Errorf("%s: %v, want the file and %q", settings, err, want)
		}
	}
}

// Nothing that a file can hold is more than a warning or an error.
func FuzzLoad(f *testing.F) {
	f.Add("@a.md", "---\nname: x\ndescription: y\n---\nz", "max_turns: 3")
	f.Add("```\n@a.md\n````\n@AGENTS.md", "---\n---\n$1", "model: [")
	f.Fuzz(func(t *testing.T, doc, skill, settings string) {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"AGENTS.md": doc, "a.md": doc, ".claude/skills/s/SKILL.md": skill, ".claude/commands/c.md": skill, ".decant/config.yaml": settings, ".git/HEAD": "",
		} {
			name = filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, err := project.Load(project.Options{Dir: dir, Trusted: yes})
		if err != nil {
			return
		}
		if len(p.Instructions) > 2 {
			t.Errorf("%d documents of two files", len(p.Instructions))
		}
		for _, c := range p.Commands {
			c.Say(doc)
		}
	})
}

// Editors on Windows begin files with a mark of their encoding. It is no part of what they say.
func TestFilesThatBeginWithAMark(t *testing.T) {
	_, p := load(t, strings.ReplaceAll(`
-- p/.git/HEAD --
-- p/AGENTS.md --
BOM@more.md
-- p/more.md --
BOMMore.
-- p/.decant/config.yaml --
BOMmodel: claude-haiku-4-5
-- p/.decant/skills/deploy/SKILL.md --
BOM---
description: How to deploy.
---
Text.
-- p/.decant/commands/fix.md --
BOM---
description: Fixes it.
---
Fix it.
`, "BOM", "\ufeff"), "")
	if len(p.Warnings) > 0 || p.Settings.Model != "claude-haiku-4-5" || len(p.Instructions) != 2 || p.Instructions[1].Text != "More." {
		t.Errorf("%q, %+v, %+v", p.Warnings, p.Settings, p.Instructions)
	}
	if len(p.Skills) != 1 || len(p.Commands) != 1 || p.Commands[0].About != "Fixes it." {
		t.Errorf("%+v, %+v", p.Skills, p.Commands)
	}
}

// What cannot be typed is no name of a command: it could not be said, and would reach the terminal when names are completed.
func TestCommandsThatCannotBeTyped(t *testing.T) {
	dir := folder(t, "-- p/.git/HEAD --\n-- p/.decant/commands/fix.it-2_é.md --\nFix.\n")
	for _, name := range []string{"\x1b]0;x\x07", "two words", "help\u202e", "-x"} {
		if err := os.WriteFile(filepath.Join(dir, "p/.decant/commands", name+".md"), []byte("x"), 0o600); err != nil {
			t.Skip("names of files are of fewer characters here")
		}
	}
	p, err := project.Load(project.Options{Dir: filepath.Join(dir, "p"), Trusted: yes})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Commands) != 1 || p.Commands[0].Name != "fix.it-2_é" || len(p.Warnings) != 4 {
		t.Errorf("%+v, %q", p.Commands, p.Warnings)
	}
}

// A preset that a project names is a file of the project, wherever in it the agent works.
func TestThePresetOfAProject(t *testing.T) {
	dir, p := load(t, "-- p/.git/HEAD --\n-- p/.decant/config.yaml --\npreset: policies/small.yaml\n-- p/policies/small.yaml --\nx: y\n-- p/sub/a --\n", "sub")
	if want := filepath.Join(dir, "p", "policies", "small.yaml"); p.Settings.Preset != want {
		t.Errorf("%s, want %s", p.Settings.Preset, want)
	}
	if _, p := load(t, "-- p/.git/HEAD --\n-- p/.decant/config.yaml --\npreset: balanced\n", ""); p.Settings.Preset != "balanced" {
		t.Errorf("%s", p.Settings.Preset)
	}
}

// What costs needs a yes to exactly what the file says, and to the policy that it names. What only limits does not.
func TestWhatCostsNeedsAYes(t *testing.T) {
	dir := folder(t, "-- p/.git/HEAD --\n-- p/.decant/config.yaml --\nmodel: claude-opus-4-1\npreset: small.yaml\nmax_turns: 3\ndeny: [bash]\n-- p/small.yaml --\nbase: default\n"+
		"-- u/config.yaml --\nmodel: claude-haiku-4-5\n")
	var asked []string
	for no, want := range map[string]string{"": "claude-opus-4-1", "config.yaml": "claude-haiku-4-5", "small.yaml": "claude-haiku-4-5"} {
		p, err := project.Load(project.Options{Dir: filepath.Join(dir, "p"), Home: filepath.Join(dir, "u"), Trusted: func(f *trust.File) error {
			if asked = append(asked, string(f.Data)); filepath.Base(f.Name) == no {
				return errors.New("say decant trust")
			}
			return nil
		}})
		if err != nil || p.Settings.Model != want || (p.Settings.Preset != "") != (no == "") || p.Settings.MaxTurns != 3 || len(p.Settings.Deny) != 1 {
			t.Errorf("without a yes to %q: %+v, %v", no, p.Settings, err)
		}
		if (len(p.Warnings) == 0) != (no == "") || no != "" && !strings.Contains(p.Warnings[0], "model and preset of the project are left out: say decant trust") {
			t.Errorf("without a yes to %q: %q", no, p.Warnings)
		}
	}
	if !slices.Contains(asked, "base: default\n") {
		t.Errorf("asked about %q", asked)
	}
	if p, err := project.Load(project.Options{Dir: filepath.Join(dir, "p")}); err != nil || p.Settings.Model != "" {
		t.Errorf("where nobody can be asked: %+v, %v", p.Settings, err)
	}
}
