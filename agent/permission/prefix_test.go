package permission_test

import (
	"context"
	"strings"
	"testing"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/permission"
)

// A rule with :* lets words follow, but for those by which the command runs another program, writes a file or changes the shell.
func TestWordsThatEndTheMatch(t *testing.T) {
	var allow []string
	for _, r := range []string{"git:*", "git -C sub log:*", "go test:*", "go:*", "printf:*", "printf -v x y", "test:*", "'[':*", "find:*", "sort:*", "npm test:*", "cargo:*", "cat:*", "uniq:*",
		"cd:*", "pushd:*", "./run:*", "python3 x.py:*", "python3 -m pytest:*", "rg:*", "date:*", "timeout 5 ls", "wait:*"} {
		allow = append(allow, "allow bash("+r+")")
	}
	g := guard(t, permission.Options{Rules: rules(t, allow...)})
	for want, lines := range map[agent.VerdictKind][]string{
		agent.Allow: {
			"git diff --stat -C -M", "git log -c --oneline -O", "git commit -m x", "git commit -m \"$(cat <<'E'\nIt's here\nE\n)\"", "git status --short", "git log -S x -- $y",
			"git rev-parse --git-dir", "git switch -c x", "git -C sub log -3", "git branch --contains x", "git add -A", "go test -count=1 -race -run X ./...", "go vet ./...", "go build .",
			"go version", "printf '%s\\n' $x", "printf -- '%d' 1", "printf", "test -f x", "'[' a = b ']'", "find . -name '*.go' -type f", "find src/* -newer x", "sort -rn x", "sort x -- $y",
			"npm test x -- $y", "cargo test --release", "uniq -c x", "cat $x", "cd x && git diff", "./run $x", "python3 x.py -c $x", "python3 -m pytest -k x", "rg -n x ~/y -- $z",
			"date +%Y", "timeout 5 ls", "wait",
		},
		agent.Ask: {
			"git diff --output=x", "git diff --outp x", "git log --ext-diff", "git show --textconv", "git grep -O./x y", "git grep -nO y", "git grep --open", "git -c a.b=c diff",
			"git -C x diff", "git --exec-path=. diff", "git --config-env=a.b=C diff", "git $x", "git config core.pager x", "git submodule foreach x", "git bisect run x", "git rebase -x x",
			"git archive -o x HEAD", "git clone -c a.b=c x", "git fetch --upload-pack=x y", "git push --receive-pack=x", "git ls-remote --exec=x", "git branch --edit-description",
			"git help -w log", "git log --help", `git diff "$x"`, "git diff -- -- $x"[:9] + "$x", "git log -S -- $x", "git commit -m $(cat x)", "git commit -F $x", "git commit -m x $y", "git diff {--output=x,a}",
			"git diff -*", "git diff ?-output=x", "git -p log", "git -C sub log --output=x", "git diff a --output", "git diff '--output=x'", `git diff "--out"put=x`,
			"go test -exec=x", "go test -toolexec x", "go vet -vettool=x", "go build -o x", "go test -args -x", "go run ./x", "go env -w A=b", "go tool x", "go -C x vet", "go test --exec x",
			"go test -coverprofile=x", "go test -test.cpuprofile=x", "go test $x", "go generate", "go test -c", "go build -ldflags=-extld=x",
			"printf -v x y", "printf -vx y", "printf -v a z", "printf $x", "printf '%n' x", "printf '%s%5ln' x y", `printf "$x"`, "test -v x", `test "$x" y`, "[ -R x ]", "[ $x ]",
			"find . -exec x", "find . -delete", "find . -fprintf x y", "find $x", "find . -ok x", "find *", "sort -o x", "sort -uo x y", "sort --compress-program=x", "sort --comp=x", "sort $x",
			"npm test --script-shell=x", "npm test -script-shell=x", "npm test --node-opt=x", "cargo run", "cargo --config x test", "cargo +x test", "cargo test --config=x",
			"cargo test -- --logfile x", "uniq x y", "uniq $x", "cd x; ./run", "pushd x; ./run", "cat x | ./runs", "python3 -c x", "python3 y.py", "rg --pre x y", "rg --hostname-bin=x y",
			"date -s x", "date --set=x", "timeout 5 rm", "wait -p x", "wait $x", "read x", "declare x", "unset x", "eval ls", "hash -p x ls", "enable -f x y", "mapfile x", "export x",
			"set -k", "shopt -s x", "alias x=y", "trap x EXIT", "getopts x y", "compgen -C x", "command cat", "exec cat", "builtin cat", "jobs -x cat", "let x", "umask 0",
		},
	} {
		for _, l := range lines {
			if v := g.Permit(context.Background(), asks("bash"), bash(t, l)); v.Kind != want {
				t.Errorf("%q: %s, want %s", l, v.Kind, want)
			}
		}
	}
}

// A rule that would allow any program is refused where it allows, and only there.
func TestRulesThatAreTooWide(t *testing.T) {
	for _, text := range []string{"env:*", "xargs:*", "sudo:*", "timeout 5:*", "nice make:*", "sh:*", "bash -c:*", "/bin/sh:*", "python3:*", "python3.12:*", "python3 -c:*", "node -e:*",
		"node:*", "perl:*", "awk:*", "sed:*", "sed -n:*", "eval:*", "eval ls", "source x", "exec ls", "read x", "unset PATH", "mapfile:*", "hash:*", "hash -p x ls", "trap:*", "ssh:*",
		"ssh host:*", "tar:*", "tar xf:*", "less:*", "man:*", "vim:*", "make:*", "make test:*", "curl:*", "git config:*", "git submodule foreach:*", "git bisect run:*", "go run:*", "go env:*",
		"go tool:*", "npm exec:*", "npx:*", "deno run:*", "deno eval:*", "bun x:*", "cargo run:*", "busybox:*", "command:*", "builtin printf:*", "jobs:*"} {
		r, err := permission.Parse("bash(" + text + ")")
		if err != nil {
			t.Fatal(err)
		}
		var all permission.Rules
		if err := all.Add(agent.Allow, r); err == nil || !strings.Contains(err.Error(), "would allow any command") {
			t.Errorf("%s: %v", text, err)
		}
		if err := all.Add(agent.Deny, r); err != nil {
			t.Errorf("deny %s: %v", text, err)
		}
		g := guard(t, permission.Options{Rules: permission.Rules{Allow: []permission.Rule{r}}})
		if v := g.Permit(context.Background(), asks("bash"), bash(t, strings.TrimSuffix(text, ":*"))); v.Kind != agent.Ask {
			t.Errorf("%s is allowed by a rule that was not added", text)
		}
	}
	rules(t, "allow bash(python3 x.py:*)", "allow bash(sh x.sh:*)", "allow bash(npx tsc:*)", "allow bash(go run ./cmd/x:*)", "allow bash(awk '{print}' x)", "allow bash(make test)",
		"allow bash(npm run build:*)", "allow bash(find:*)")
}
