package permission_test

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/permission"
)

// call returns a call with arguments.
func call(t testing.TB, tool string, args map[string]string) *agent.Call {
	t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return &agent.Call{ID: "toolu_1", Tool: tool, Arguments: b}
}

func bash(t testing.TB, line string) *agent.Call {
	return call(t, "bash", map[string]string{"command": line})
}

// rules reads rules that are written as "allow bash(x)".
func rules(t testing.TB, texts ...string) (out permission.Rules) {
	t.Helper()
	for _, text := range texts {
		kind, rule, _ := strings.Cut(text, " ")
		r, err := permission.Parse(rule)
		if err != nil {
			t.Fatal(err)
		}
		if err := out.Add(agent.VerdictKind(kind), r); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func guard(t testing.TB, o permission.Options) *permission.Guard {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	g, err := permission.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// asks is a tool that asks.
func asks(name string) *agent.Tool { return &agent.Tool{Name: name, Ask: true} }

func TestRulesAreReadAndWritten(t *testing.T) {
	for text, want := range map[string]string{
		"read": "read", "bash(*)": "bash", " bash( git diff:* ) ": "bash(git diff:*)", "mcp__github__*": "mcp__github__*", "*": "*",
		"edit(./src/)": "edit(src/**)", "fetch(domain:Example.COM.)": "fetch(domain:example.com)", "bash(git commit -m 'a b')": "bash(git commit -m 'a b')",
		"edit(/etc/**)": "edit(/etc/**)", "bash(echo ')')": "bash(echo ')')",
	} {
		r, err := permission.Parse(text)
		if err != nil || r.String() != want {
			t.Errorf("Parse(%q) = %q, %v, want %q", text, r, err, want)
		}
	}
}

func TestBadRulesSayWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"": "name of a tool is missing", "bash(": "the ) at its end", "bash()": "bash alone names all calls", "ba sh": "letters, digits",
		"bash(git *)": "without anything that the shell expands", "bash(a && b)": "names one command", "bash(x=1 a)": "names one command",
		"bash($x:*)": "names one command", "bash(:*)": "names one command", "bash('a)": "is not a command", "bash(a > b)": "names one command",
		"fetch(example.com)": "domain:", "fetch(domain:)": "domain:", "fetch(domain:a/b)": "domain:", "edit(../x)": "leads out",
		"edit([)": "not a pattern", "mine(x)": "takes no parentheses", "bash(a\nb)": "one line", "mcp__*__x": "may end with *",
	} {
		if _, err := permission.Parse(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", text)) {
			t.Errorf("Parse(%q): %v, want %q", text, err, want)
		}
	}
}

// What a rule of bash allows, it allows for each command of a line; whatever else can act is asked about.
func TestLinesUnderRulesThatAllow(t *testing.T) {
	g := guard(t, permission.Options{Rules: rules(t, "allow bash(git diff:*)", "allow bash(ls:*)", "allow bash(npm test)")})
	allowed := []string{
		"git diff", "git  diff\tHEAD", "git diff -- a.go b.go", "git diff && ls", "git diff | ls", "ls; ls", "ls & ls", "(ls)", "{ ls; }", "! ls",
		"'git' \"diff\"", "git diff HEAD -- *.go", "git diff src/{a,b}", "git diff HEAD -- $x ${y}", `ls "$HOME"`, "ls $(ls)", "ls `ls`", "ls 2>&1",
		"ls >/dev/null 2>&1", "ls </dev/null", "npm test", "# nothing\nls", "ls <<EOF\ntext\nEOF", "git diff ~/x", "ls 2>/dev/null || ls",
	}
	asked := []string{
		"", "rm x", "git", "git push", "git diffs", "gitdiff", "npm test x", "git diff && rm -rf x", "git diff; rm x", "git diff | rm", "git diff || rm",
		"git diff & rm x", "git diff\nrm x", "git diff $(rm x)", "git diff `rm x`", `git diff "$(rm x)"`, "git diff $(ls; rm x)", "git diff > /etc/x",
		"git diff >> x", "git diff >| x", "git diff &> x", "git diff &>> x", "git diff 2> x", "git diff <> x", "git diff < x", "git diff >& x",
		"git diff 3>/dev/null", "PATH=. git diff", "GIT_EXTERNAL_DIFF=rm git diff", "PATH=.; git diff", "export PATH=.; git diff",
		"git diff <(rm x)", "git diff >(rm x)", "git() { rm x; }; git diff", "for i in a; do ls; done", "while ls; do ls; done", "if ls; then ls; fi",
		"case x in x) ls;; esac", "select x in a; do ls; done", "[[ -f x ]]", "((x=1))", "let x=1", "ls $((x=1))", "ls ${x:=y}", "ls ${x:-$(rm y)}",
		"ls ${!x}", "ls ${x@P}", "ls ${x[$(rm y)]}", "ls ${x/a/b}", "ls $'\\x41'", "ls $\"x\"", "$x", "$(echo git) diff", "g\\it diff",
		"git di*", "{git,diff}", "~/git diff", "git $x", "\\\nrm x", "coproc ls", "time rm x", "eval ls", "exec ls", "sudo ls", "env ls", "xargs ls",
		"sh -c ls", "command ls", "ls <<EOF\n$(rm x)\nEOF", "ls <<<\"$(rm x)\"", "ls\r", "ls\x1b[A", "ls 'a", "ls )", "trap 'rm x' EXIT; ls",
		"alias ls=rm; ls", "ls |& rm", "declare x=1", "readonly x=1", "ls {fd}>x", "ls " + strings.Repeat("x", 1<<17), "!(ls)", "ls @(a|b)",
		"git diff *.go", "git diff {a,b}", "git diff $x", "git diff $(ls)", "git diff `ls`", `git diff "$x"`, "git diff --stat -- $x", // each may be an option
		"function ls { rm x; }", ". ./ls", "ls && (cd / && rm x)", "ls; { rm x; }", "ls $(`rm x`)", "/bin/ls", "./ls",
		"ls #\\\nrm x", "ls # a \\\nrm x", "ls $(ls #\\\nrm x)", "ls; ls #\\\n\\\nrm x", "#\\\nrm x", // bash continues no comment
	}
	check := func(lines []string, want agent.VerdictKind) {
		for _, l := range lines {
			if v := g.Permit(context.Background(), asks("bash"), bash(t, l)); v.Kind != want {
				t.Errorf("%.100q: %s, want %s", l, v.Kind, want)
			}
		}
	}
	check(allowed, agent.Allow)
	check(asked, agent.Ask)
}

// A rule that denies finds its command wherever it stands, and where it cannot be told somebody is asked.
func TestLinesUnderRulesThatDeny(t *testing.T) {
	g := guard(t, permission.Options{Rules: rules(t, "deny bash(rm:*)", "deny bash(git push:*)", "ask bash(npm publish)", "allow bash")})
	for l, want := range map[string]agent.VerdictKind{
		"ls": agent.Allow, "rmdir x": agent.Allow, "git diff $x": agent.Allow, "for i in *; do cat $i; done": agent.Allow, "x=1 ls > y": agent.Allow,
		"git status": agent.Allow, "npm publish --dry-run": agent.Allow, "sh -c 'ls'": agent.Allow, "sudo ls": agent.Allow,
		"rm x": agent.Deny, "ls && rm x": agent.Deny, "ls $(rm x)": agent.Deny, "/bin/rm x": agent.Deny, "sudo rm x": agent.Deny,
		"sudo -u root rm x": agent.Deny, "env A=b rm x": agent.Deny, "ls | xargs rm": agent.Deny, "sh -c 'ls; rm x'": agent.Deny,
		"bash -lc \"rm x\"": agent.Deny, "sudo sh -c 'rm x'": agent.Deny, "eval rm x": agent.Deny, "eval 'rm x'": agent.Deny,
		"find . -exec rm {} ;": agent.Deny, "f() { rm x; }": agent.Deny, "if true; then rm x; fi": agent.Deny, "cat <(rm x)": agent.Deny,
		"x=1 rm y": agent.Deny, "\"rm\" x": agent.Deny, "timeout 5 git push origin": agent.Deny, "git push $x": agent.Deny,
		"sh -c \"sh -c 'rm x'\"": agent.Deny,
		"$x y":                   agent.Ask, "$(echo rm) x": agent.Ask, "git $x": agent.Ask, "r\\m x": agent.Ask, "sh x.sh": agent.Ask, ". ./x": agent.Ask,
		"eval $x": agent.Ask, "sudo $x": agent.Ask, "sh -c 'ls": agent.Ask, "ls 'a": agent.Ask, "r{m,} x": agent.Ask, "npm publish": agent.Ask,
		"npm publish $x": agent.Ask, "alias ls=rm": agent.Ask, "env " + strings.Repeat("sh ", 200) + "-c ls": agent.Ask,
	} {
		if v := g.Permit(context.Background(), asks("bash"), bash(t, l)); v.Kind != want {
			t.Errorf("%.100q: %s (%s), want %s", l, v.Kind, v.Reason, want)
		}
	}
}

func TestFilesUnderRules(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"src/deep", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"src/out": "../other", "src/env": "../.env", "alias": "src"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	g := guard(t, permission.Options{Dir: dir, Rules: rules(t, "allow edit(src/**)", "deny edit(src/secret.go)", "deny read(**/.env)", "ask read(other/**)", "allow read")})
	for _, c := range []struct {
		tool, name string
		want       agent.VerdictKind
	}{
		{"edit", "src/a.go", agent.Allow}, {"edit", "src/deep/a.go", agent.Allow}, {"write", "src/new/a.go", agent.Allow},
		{"edit", "./src//a.go", agent.Allow}, {"edit", filepath.Join(dir, "src/a.go"), agent.Allow}, {"edit", "other/../src/a.go", agent.Allow},
		{"edit", "a.go", agent.Ask}, {"edit", "src/../a.go", agent.Ask}, {"edit", "/etc/passwd", agent.Ask}, {"edit", "src/../../x", agent.Ask},
		{"edit", "src/out/a.go", agent.Ask}, {"edit", "src/env", agent.Ask}, {"write", "src/secret.go", agent.Deny}, {"edit", "alias/secret.go", agent.Deny},
		{"edit", "src/deep/../secret.go", agent.Deny}, {"edit", "", agent.Ask}, {"edit", "srcs/a", agent.Ask},
		{"read", "src/a.go", agent.Allow}, {"read", ".env", agent.Deny}, {"read", "src/deep/.env", agent.Deny}, {"read", "src/env", agent.Deny}, {"read", ".ENV", agent.Deny}, {"edit", "SRC/a.go", agent.Ask},
		{"read", "other/a", agent.Ask}, {"read", "src/out/a", agent.Ask}, {"grep", "other", agent.Ask}, {"glob", "src", agent.Allow},
	} {
		args := map[string]string{"file_path": c.name}
		if c.tool == "grep" || c.tool == "glob" {
			args = map[string]string{"path": c.name, "pattern": "x"}
		}
		if v := g.Permit(context.Background(), asks(c.tool), call(t, c.tool, args)); v.Kind != c.want {
			t.Errorf("%s %q: %s (%s), want %s", c.tool, c.name, v.Kind, v.Reason, c.want)
		}
	}
	if got := g.Hidden(); !slices.Equal(got, []string{"**/.env"}) {
		t.Errorf("hidden: %q", got)
	}
}

// What git, editors and agents run or obey is asked about, whatever rules allow, and "always" is no answer.
func TestObeyedFilesAreAlwaysAskedAbout(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(".claude", filepath.Join(dir, "alias")); err != nil {
		t.Fatal(err)
	}
	g := guard(t, permission.Options{Dir: dir, Rules: rules(t, "allow edit", "allow write", "allow read", "deny edit(.idea/**)")})
	for name, want := range map[string]agent.VerdictKind{
		"main.go": agent.Allow, ".claude/settings.json": agent.Ask, "sub/.vscode/tasks.json": agent.Ask, "AGENTS.md": agent.Ask, "alias/x": agent.Ask, "a/../.mcp.json": agent.Ask, ".idea/x": agent.Deny,
	} {
		for _, tool := range []string{"write", "edit"} {
			c := call(t, tool, map[string]string{"file_path": name})
			if v := g.Permit(context.Background(), asks(tool), c); v.Kind != want {
				t.Errorf("%s %s: %s, want %s", tool, name, v.Kind, want)
			}
			if got := g.For(asks(tool), c); want == agent.Ask && len(got) > 0 {
				t.Errorf("%s %s: proposed %q", tool, name, join(got))
			}
		}
		if v := g.Permit(context.Background(), asks("read"), call(t, "read", map[string]string{"file_path": name})); v.Kind != agent.Allow {
			t.Errorf("read %s: %s", name, v.Kind)
		}
	}
}

func TestOtherToolsUnderRules(t *testing.T) {
	g := guard(t, permission.Options{Rules: rules(t, "allow fetch(domain:example.com)", "allow fetch(domain:*.go.dev)", "allow mcp__github__*", "deny mcp__github__delete", "ask quiet")})
	for _, c := range []struct {
		tool, url string
		want      agent.VerdictKind
	}{
		{"fetch", "https://example.com/x", agent.Allow}, {"fetch", "https://EXAMPLE.com:8443/", agent.Allow}, {"fetch", "https://pkg.go.dev", agent.Allow},
		{"fetch", "https://a.example.com", agent.Ask}, {"fetch", "https://example.com@evil.org/", agent.Ask}, {"fetch", "https://evil.org/example.com", agent.Ask},
		{"fetch", "https://go.dev", agent.Ask}, {"fetch", "https://evilgo.dev", agent.Ask}, {"fetch", "::", agent.Ask}, {"fetch", "", agent.Ask},
		{"mcp__github__list", "", agent.Allow}, {"mcp__github__delete", "", agent.Deny}, {"mcp__gitlab__list", "", agent.Ask},
	} {
		if v := g.Permit(context.Background(), asks(c.tool), call(t, c.tool, map[string]string{"url": c.url})); v.Kind != c.want {
			t.Errorf("%s %q: %s, want %s", c.tool, c.url, v.Kind, c.want)
		}
	}
	if v := g.Permit(context.Background(), &agent.Tool{Name: "add"}, call(t, "add", nil)); v.Kind != agent.Allow {
		t.Errorf("a tool that does not ask: %s", v.Kind)
	}
	if v := g.Permit(context.Background(), &agent.Tool{Name: "quiet"}, call(t, "quiet", nil)); v.Kind != agent.Ask {
		t.Errorf("a tool that a rule asks about: %s", v.Kind)
	}
	for _, bad := range []string{`[]`, `{"url":1}`, `{`, ``} {
		if v := g.Permit(context.Background(), asks("fetch"), &agent.Call{Tool: "fetch", Arguments: stdjson.RawMessage(bad)}); v.Kind != agent.Ask {
			t.Errorf("arguments %q: %s", bad, v.Kind)
		}
	}
}

// Where nobody is there, what would ask is denied, and the model is told why and what it can do.
func TestNobodyIsThere(t *testing.T) {
	g := guard(t, permission.Options{Nobody: true, Rules: rules(t, "allow bash(ls)", "ask edit(x)", "deny bash(rm:*)")})
	for _, c := range []struct {
		c    *agent.Call
		want string
	}{
		{bash(t, "cat x"), "no rule allows it, and nobody is there"}, {bash(t, "$x"), "it cannot be told whether the rule bash(rm:*)"},
		{call(t, "edit", map[string]string{"file_path": "x"}), "the rule edit(x) wants"}, {bash(t, "rm x"), "the rule bash(rm:*) denies it"},
	} {
		if v := g.Permit(context.Background(), asks(c.c.Tool), c.c); v.Kind != agent.Deny || !strings.Contains(v.Reason, c.want) {
			t.Errorf("%s: %s %q, want %q", c.c.Arguments, v.Kind, v.Reason, c.want)
		}
	}
	if v := g.Permit(context.Background(), asks("bash"), bash(t, "ls")); v.Kind != agent.Allow {
		t.Errorf("ls: %+v", v)
	}
}

// "Always" stores what allows the call and not everything beside it.
func TestProposals(t *testing.T) {
	dir := t.TempDir()
	g := guard(t, permission.Options{Dir: dir})
	for l, want := range map[string]string{
		"git diff HEAD": "bash(git diff:*)", "git fetch origin": "bash(git fetch origin)", // with --upload-pack it runs any command
		"git diff && ls -l": "bash(git diff:*) bash(ls:*)", "git push origin": "bash(git push origin)",
		"npm run build": "bash(npm run build)", "git commit -m x": "bash(git commit:*)", "git tag 'a b'": "bash(git tag 'a b')",
		"git -c core.pager=x diff": "bash(git -c core.pager=x diff)", "cat $x": "bash(cat:*)", "ls | ls": "bash(ls:*)", "docs": "bash(docs)",
		"git diff --output=x": "bash(git diff --output=x)", "printf -v x y": "", "find . -name x": "", "read x": "", "git diff $(ls)": "", "awk x": "",
		"sh -c ls": "", "sudo ls": "", "xargs rm": "", "env ls": "", "/bin/sh x": "", "python3 x.py": "", "ls > x": "", "x=1 ls": "", "frob $x": "",
		"git diff && sh x": "", "ls 'a": "", "find . -delete": "", "nice ls": "", "eval x": "", "rm x": "", "make": "", "git tag \"it's\"": "",
	} {
		c := bash(t, l)
		proposed := g.For(asks("bash"), c)
		if got := join(proposed); got != want {
			t.Errorf("%q: %q, want %q", l, got, want)
		}
		if want == "" {
			continue
		}
		with := guard(t, permission.Options{Dir: dir, Rules: permission.Rules{Allow: proposed}})
		if v := with.Permit(context.Background(), asks("bash"), c); v.Kind != agent.Allow {
			t.Errorf("%q is not allowed by %q", l, proposed)
		}
	}
	for _, c := range []struct{ tool, key, value, want string }{
		{"edit", "file_path", "src/a/b.go", "edit(src/a/**)"}, {"write", "file_path", filepath.Join(dir, "x.md"), "edit(x.md)"},
		{"edit", "file_path", "/etc/passwd", ""}, {"edit", "file_path", "a*/b", ""}, {"fetch", "url", "https://Example.com/x", "fetch(domain:example.com)"},
		{"fetch", "url", "::", ""}, {"read", "file_path", "x", "read"}, {"mcp__a__b", "x", "y", "mcp__a__b"},
	} {
		if got := join(g.For(asks(c.tool), call(t, c.tool, map[string]string{c.key: c.value}))); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.value, got, c.want)
		}
	}
}

func join(rules []permission.Rule) string {
	var out []string
	for _, r := range rules {
		out = append(out, r.String())
	}
	return strings.Join(out, " ")
}
