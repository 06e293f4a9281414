package fact

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/tool"
	"github.com/decantdev/decant/internal/typed"
)

// A Followed is a text that the agent was told to follow: what it read from a file that the user, the
// system prompt or such a file names, or what its client put before it as instructions.
type Followed struct {
	Ref  decant.Ref
	Hash decant.Hash // of the block's text
	File string      // as the call names it
}

// Follow returns the instructions that ms hold outside of what the user typed, in the order in which they
// stand. Of a file the newest read counts. Only files of prose are taken, and only those that an order names:
// "execute the prompt in search-prompt.txt", "see AGENTS.md for the rules". An order is what the user typed,
// the system prompt, or, one level on, a text that is followed itself. Files whose name says that they
// instruct agents (AGENTS.md, SKILL.md and their like) need no order. A skill that the client loaded is
// followed until the user continues from the commit. When ctx is done it ends early, with what it knows by
// then.
func Follow(ctx context.Context, ms []decant.Message, system []decant.Block) []Followed {
	f := follower{ctx: ctx, calls: map[string]read{}, newest: map[string]candidate{}}
	for i := range system {
		f.order(system[i].Text())
	}
	for i := range ms {
		for k := range ms[i].Blocks {
			if ctx.Err() != nil {
				break
			}
			f.block(&ms[i].Blocks[k])
		}
	}
	return f.follow()
}

// A follower gathers orders, and the reads that may answer them.
type follower struct {
	ctx    context.Context
	named  []string // files that orders name, as they are written
	calls  map[string]read
	newest map[string]candidate // by file
	given  []Followed           // by the client itself
	step   string               // id of a call that commits
	closed bool                 // what was done is committed, and nothing changed since
}

// A read is a call that shows one file of prose.
type read struct{ key, path string }

// A candidate is the newest result of a read.
type candidate struct {
	Followed
	block *decant.Block
}

func (f *follower) block(b *decant.Block) {
	switch {
	case b.Kind == decant.KindText && b.Author == decant.AuthorUser:
		text := b.Text()
		words := typed.Words("", text)
		f.order(words)
		if f.closed && words != "" {
			f.given, f.closed = slices.DeleteFunc(f.given, func(g Followed) bool { return g.File == skill }), false
		}
		f.client(b, text)
	case b.Kind == decant.KindText && b.Author == decant.AuthorClient:
		f.client(b, b.Text())
	case b.Kind == decant.KindUse:
		c := tool.Parse(b.Name, b.Text())
		if c.Effect == tool.Read && len(c.Files) == 1 && isProse(c.Path) {
			f.calls[b.CallID] = read{c.Files[0].Key, c.Path}
		}
		switch {
		case strings.Contains(c.Command, "git commit"):
			f.step = b.CallID
		case c.Class == tool.Edit || c.Class == tool.Write:
			f.closed = false
		}
	case b.Kind == decant.KindResult && !b.Error:
		f.closed = f.closed || f.step != "" && b.CallID == f.step
		if r, ok := f.calls[b.CallID]; ok && b.Content != nil {
			f.newest[r.key] = candidate{Followed{Ref: b.Ref, File: r.path}, b}
		}
	}
}

// skill is the file of a skill. A client loads it for one task, and once more for the next.
const skill = "SKILL.md"

// clientForms are how client programs put instructions before the model, and the name of the file that
// they come from. Seen in Claude Code 2 and Codex.
var clientForms = []struct{ begins, file string }{
	{"Base directory for this skill:", skill},
	{"<system-reminder>\nAs you answer the user's questions, you can use the following context:\n# claudeMd", "CLAUDE.md"},
	{"# AGENTS.md instructions", "AGENTS.md"},
	{"<user_instructions>", "AGENTS.md"},
}

// client takes in what an agent program gives to the model as instructions.
func (f *follower) client(b *decant.Block, text string) {
	for _, c := range clientForms {
		if strings.HasPrefix(text, c.begins) {
			f.given = append(f.given, Followed{b.Ref, b.Hash(), c.file})
			return
		}
	}
}

// follow returns what orders name, and what that names in turn.
func (f *follower) follow() []Followed {
	out := f.given
	taken := map[string]bool{}
	for range 2 {
		for key, c := range f.newest {
			if f.ctx.Err() != nil {
				break
			}
			if taken[key] || !f.asked(c.File) {
				continue
			}
			taken[key] = true
			c.Hash = c.block.Hash()
			out = append(out, c.Followed)
		}
		for key := range taken {
			f.order(f.newest[key].block.Text())
		}
	}
	slices.SortFunc(out, func(a, b Followed) int {
		if a.Ref.Message != b.Ref.Message {
			return a.Ref.Message - b.Ref.Message
		}
		return a.Ref.Block - b.Ref.Block
	})
	return out
}

// asked reports whether a file is one that an order names, or one that instructs agents anyway.
func (f *follower) asked(file string) bool {
	base := path.Base(file)
	if forAgents[strings.ToLower(base)] {
		return true
	}
	return slices.ContainsFunc(f.named, func(n string) bool {
		return strings.HasSuffix("/"+file, "/"+strings.TrimPrefix(n, "./"))
	})
}

// forAgents are the files that instruct agents by their name, in small letters.
var forAgents = map[string]bool{
	"agents.md": true, "agent.md": true, "claude.md": true, "claude.local.md": true, "gemini.md": true,
	"qwen.md": true, "skill.md": true, "copilot-instructions.md": true,
	".cursorrules": true, ".clinerules": true, ".windsurfrules": true, "conventions.md": true,
}

// isProse reports whether a file holds prose by its name. What a version control keeps for itself, such as
// HEAD, does not.
func isProse(p string) bool {
	for dir := range strings.SplitSeq(path.Dir(p), "/") {
		if strings.HasSuffix(dir, ".git") || dir == ".hg" || dir == ".jj" || dir == ".svn" {
			return false
		}
	}
	base := strings.ToLower(path.Base(p))
	if forAgents[base] {
		return true
	}
	switch path.Ext(base) {
	case ".md", ".txt", ".mdx", ".rst", ".adoc", ".org", ".markdown", ".mdc", ".prompt":
		return true
	case "":
		return !strings.HasPrefix(base, ".") && !strings.Contains(base, "file") && base != "" && base != "/"
	}
	return false
}

// order takes in the files of prose that a text tells the agent to follow, sentence by sentence.
func (f *follower) order(text string) {
	if !strings.ContainsAny(text, ".@") && !strings.ContainsAny(text, "/ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return
	}
	for line := range strings.Lines(text) {
		for _, s := range clauses(line) {
			if f.ctx.Err() != nil {
				return
			}
			f.named = append(f.named, ordered(s)...)
		}
	}
}

// clauses splits a line where one order ends and the next begins.
func clauses(line string) []string {
	var out []string
	start := 0
	for i := 0; i+1 < len(line); i++ {
		if (line[i] == '.' || line[i] == '!' || line[i] == '?' || line[i] == ';') && line[i+1] == ' ' {
			out = append(out, line[start:i])
			start = i + 1
		}
	}
	return append(out, line[start:])
}

// ordered returns the files of prose in a clause that orders to follow them.
func ordered(clause string) (out []string) {
	files := strings.FieldsFunc(clause, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("\"'`()[]<>,:;*!?，。：；（）「」“”", r)
	})
	for i, w := range files {
		files[i] = strings.TrimRight(strings.TrimPrefix(w, "@"), ".")
	}
	files = slices.DeleteFunc(files, func(w string) bool {
		return len(w) < 4 || !isProse(w) || path.Ext(w) == "" && !capitals(w)
	})
	if len(files) == 0 { // as nearly always: its verbs need not be looked for
		return nil
	}
	low := strings.ToLower(clause)
	short := len(strings.Fields(clause)) <= 4
	follows, looks, writes := hasAny(low, following), hasAny(low, looking), hasAny(low, writing)
	for _, w := range files {
		tells := instructive(strings.ToLower(path.Base(w)))
		switch {
		case writes && !follows:
		case follows, looks && tells, short && tells:
			out = append(out, w)
		}
	}
	return out
}

// Words that make naming a file an order to follow it, those that make it one only where the file's name
// says that it instructs, and those that make it one to change it.
var (
	following = []string{"follow", "execute", "carry out", "work through", "implement", "obey", "comply", "adhere", "according to", "as described", "as defined", "as specified", "as laid out", "as written", "per ", "instructions in", "instructions from", "instructions are",
		"steps in", "rules in", "rules are", "rules from", "prompt in", "prompt from", "tasks in", "task in", "criteria in", "guidelines", "conventions", "stick to", "respect", "apply", "run the prompt", "do what", "based on", "use the", "using the", "complete the", "finish the", "solve", "start with", "start from", "continue with", "described in", "defined in", "specified in", "laid out in", "is in ", "are in ",
		"按照", "根据", "执行", "遵循", "遵守", "依照", "befolge", "gemäß", "laut ", "suis ", "selon ", "sigue ", "según "}
	looking = []string{"read", "see", "check", "look at", "open", "refer", "consult", "load", "review", "阅读", "查看", "参考", "读", "lies ", "lis ", "lee "}
	writing = []string{"write", "create", "update", "edit", "add ", "append", "fix", "rename", "delete", "remove", "translate", "summarise", "summarize", "save", "put ", "document", "generate", "format", "commit", "写", "更新", "创建", "修改"}
)

// instructive reports whether the name of a file says that it tells somebody what to do.
func instructive(base string) bool {
	return forAgents[base] || hasAny(base, []string{"task", "todo", "plan", "spec", "prompt", "instruct", "require", "brief", "ticket", "issue", "rule", "guide", "convention", "style", "skill", "rubric", "criteria", "checklist", "policy", "runbook", "playbook", "story", "assignment", "how", "contributing", "agent"})
}

// capitals reports whether a name without an ending is written in capitals: TASK, LICENSE.
func capitals(w string) bool {
	return w == strings.ToUpper(w) && len(w) >= 4 && class[w[0]]&upper != 0
}

func hasAny(low string, cues []string) bool {
	return slices.ContainsFunc(cues, func(c string) bool { return strings.Contains(low, c) })
}
