package tool

import (
	"slices"
	"strings"
)

// A Step is one command of a shell text that has an outcome worth knowing: it builds, checks, tests, commits or deploys.
type Step struct {
	Kind   string // what is done: "test", "lint", "git push"
	Family string // the ecosystem whose tools do it: "go", "js"; empty for a task runner, which runs any

	dir     string
	paths   []string // that the step is limited to
	filters []string // other limits, and what makes it stricter

	sure   bool   // an exit status of 0 of the whole text is the step's own, too
	blamed bool   // any other may be
	first  int    // lines of its output that are let through, counted from the first; 0: all
	match  string // what grep lets through of it, in small letters
}

// Covers reports whether what came of s says what would come of t: s does the same at least as widely.
func (s *Step) Covers(t *Step) bool {
	if s.Kind != t.Kind || s.Family != t.Family && s.Family != "" || s.dir != t.dir && s.dir != "" && t.dir != "" {
		return false
	}
	if slices.ContainsFunc(s.filters, func(f string) bool { return !slices.Contains(t.filters, f) }) {
		return false
	}
	if strict(t.filters) && !strict(s.filters) {
		return false
	}
	within := func(p string) bool {
		return slices.ContainsFunc(s.paths, func(q string) bool { return inside(p, q) })
	}
	return len(s.paths) == 0 || len(t.paths) > 0 && !slices.ContainsFunc(t.paths, func(p string) bool { return !within(p) })
}

// strictOptions make a check find more than it does without them.
const strictOptions = "-race --race --strict -Werror --all-features --check-untyped-defs"

func strict(filters []string) bool {
	return slices.ContainsFunc(filters, func(f string) bool { return hasWord(strictOptions, f) })
}

// inside reports whether the target p of a check is a part of q: "./a/b" of "./a/...", "t.py::x" of "t.py".
func inside(p, q string) bool {
	q = strings.TrimRight(strings.TrimSuffix(q, "..."), "/")
	rest, ok := strings.CutPrefix(p, q)
	if ok {
		return rest == "" || q == "" || strings.ContainsAny(rest[:1], "/:")
	}
	return len(q) > 3 && !strings.Contains(q, "/") && strings.Contains(p, q) // a pattern of jest and its like
}

// kinds are the words by which programs and scripts name what they do.
var kinds = map[string]string{
	"test": "test", "tests": "test", "t": "test", "spec": "test", "nextest": "test", "verify": "test", "e2e": "test",
	"lint": "lint", "clippy": "lint", "vet": "vet", "credo": "lint", "analyze": "lint", "check": "check",
	"typecheck": "typecheck", "type-check": "typecheck", "types": "typecheck", "tsc": "typecheck", "dialyzer": "typecheck",
	"fmt": "format", "format": "format", "prettier": "format", "build": "build", "compile": "build", "bundle": "build",
	"assemble": "build", "package": "build", "install": "install", "i": "install", "ci": "ci", "add": "install", "sync": "install",
	"get": "install", "tidy": "install", "generate": "generate", "codegen": "generate", "deploy": "deploy", "release": "release",
	"publish": "publish", "migrate": "migrate", "plan": "plan", "apply": "apply", "up": "up", "pack": "build",
	"validate": "check", "archive": "build", "restore": "install", "upgrade": "migrate", "destroy": "destroy",
}

// A program is what a name stands for: a family and what it does whatever its arguments are; or, where kind is
// empty, what its first words say that it does.
type program struct{ family, kind string }

var programs = table(map[string]string{
	"py test":        "pytest py.test tox nox behave",
	"py typecheck":   "mypy pyright basedpyright pytype",
	"py lint":        "flake8 pylint bandit",
	"py format":      "black isort autopep8 yapf",
	"py install":     "pip pip3",
	"py":             "ruff uv poetry pdm hatch pipenv rye poe alembic python python3",
	"js test":        "jest vitest mocha ava tap karma cypress playwright",
	"js typecheck":   "tsc vue-tsc tsgo",
	"js lint":        "eslint biome oxlint stylelint xo",
	"js format":      "prettier",
	"js build":       "vite webpack esbuild rollup next tsup parcel swc",
	"js":             "npm pnpm yarn bun deno nx turbo node moon lerna prisma knex",
	"go test":        "gotestsum",
	"go lint":        "golangci-lint staticcheck revive",
	"go format":      "gofmt gofumpt goimports",
	"go":             "go",
	"rust":           "cargo",
	"elixir":         "mix elixir rebar3",
	"ruby test":      "rspec minitest",
	"ruby lint":      "rubocop standardrb",
	"ruby":           "rake rails bundle",
	"php test":       "phpunit pest",
	"php lint":       "phpstan psalm phpcs",
	"php":            "composer artisan",
	"jvm":            "mvn mvnw gradle gradlew sbt lein ant",
	"net":            "dotnet",
	"swift":          "swift xcodebuild swiftlint",
	"c test":         "ctest bats",
	"c build":        "cmake gcc g++ clang",
	"c":              "meson",
	"dart":           "flutter dart",
	"haskell":        "stack cabal",
	"zig":            "zig",
	"shell lint":     "shellcheck hadolint",
	"infra":          "terraform tofu pulumi docker podman helm kubectl serverless vercel flyctl fly wrangler cdk sam netlify",
	"infra playbook": "ansible-playbook",
	"vcs":            "git gh glab hg jj",
	"":               "make ninja bazel just task mise rtk-task",
})

func table(rows map[string]string) map[string]program {
	out := map[string]program{}
	for key, names := range rows {
		family, kind, _ := strings.Cut(key, " ")
		for name := range strings.FieldsSeq(names) {
			out[name] = program{family, kind}
		}
	}
	return out
}

// Steps of a version control system that change something, of the hosts of its repositories, and of infrastructure.
const (
	gitSteps   = "commit push pull merge rebase checkout switch stash reset tag cherry-pick revert am apply clone restore"
	hubSteps   = "create merge close reopen edit review comment delete"
	infraSteps = "apply plan destroy up down deploy build push install upgrade rollback delete create run"
)

// stepOf returns what a simple command without its wrappers does, if its outcome is worth knowing.
func stepOf(words []string) (s Step, ok bool) {
	name := strings.TrimSuffix(baseName(words[0]), ".exe")
	p, known := programs[name]
	if !known {
		return Step{}, false
	}
	s.Family, s.Kind = p.family, p.kind
	args := s.options(words[1:])
	switch {
	case p.family == "vcs" && !slices.Contains(words, "--dry-run"):
		s.Kind = vcsKind(name, args)
		s.paths, s.filters = nil, nil
	case p.family == "vcs":
	case p.kind != "":
		s.narrow(args)
	case name == "docker" && len(args) > 1 && args[0] == "compose":
		s.Kind = verbOf(args[1], infraSteps, "compose ")
	case p.family == "infra":
		s.Kind = verbOf(firstOf(args), infraSteps, name+" ")
	case name == "python" || name == "python3" || name == "node":
		if interpreterTests(words[1:]) {
			s.Kind = "test"
		}
	case (name == "make" || name == "ninja") && len(args) == 0:
		s.Kind = "build"
	default:
		s.script(name, args)
	}
	return s, s.Kind != ""
}

func firstOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// vcsKind names the step of a version control system or of its host: "git push", "gh pr create".
func vcsKind(name string, args []string) string {
	if name != "gh" && name != "glab" {
		return verbOf(firstOf(args), gitSteps, name+" ")
	}
	if len(args) < 2 {
		return ""
	}
	return verbOf(args[1], hubSteps, name+" "+args[0]+" ")
}

func verbOf(word, verbs, before string) string {
	if word != "" && hasWord(verbs, word) {
		return before + word
	}
	return ""
}

// options takes the options out of args and in those that limit what is done or say where. What follows "--" is of the
// command that is run.
func (s *Step) options(args []string) (rest []string) {
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if args[i] == "" || args[i][0] != '-' || args[i] == "--" {
			if args[i] != "--" && args[i] != "" {
				rest = append(rest, args[i])
			}
			continue
		}
		if hasWord(strictOptions, name) {
			s.filters = append(s.filters, name)
		}
		dir, limit := hasWord(dirOptions, name), hasWord(limitOptions, name)
		if name == "-m" && s.Family == "py" && s.Kind == "" { // python -m
			dir, limit = false, false
		}
		if !joined && (dir || limit || hasWord(valueOptions, name)) && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch {
		case dir:
			s.dir = value
		case limit:
			s.filters = append(s.filters, name+"="+value)
		}
	}
	return rest
}

// Options whose value is the next word: those that name the folder, those that limit what is tested or built, and others.
const (
	dirOptions   = "-C --prefix --cwd --dir --manifest-path --project-directory --work-dir"
	limitOptions = "-k -run --run -t --grep -g --filter -F --testNamePattern --testPathPattern -p --package --test -m --only -w " +
		"--workspace --scope -Dtest --tests --example -tags --project"
	valueOptions = "-c -f -o -n -count -timeout -coverprofile --coverprofile --config --reporter --rootdir --maxfail -j --target " +
		"--log-level -cpu -bench -benchtime --format --output -e --env --profile"
)

// script reads what a build tool is to do from its first words: "run test:unit", "test", "deps.get", "//pkg:test".
func (s *Step) script(name string, args []string) {
	for i, a := range args {
		if i > 1 {
			return
		}
		if hasWord("run run-script exec x task pipeline", a) {
			continue
		}
		word, sub, _ := strings.Cut(strings.TrimPrefix(a, ":"), ":")
		if kinds[word] == "" && !strings.HasPrefix(a, "-") { // deps.get, build-web, :app:test
			word, sub = nearKind(a)
		}
		kind := kinds[word]
		if kind == "ci" && s.Family == "js" {
			kind = "install"
		}
		if name == "cargo" && kind == "check" || name == "swiftlint" {
			kind = "typecheck"
		}
		if kind == "" {
			continue
		}
		s.Kind = kind
		if sub != "" && !hasWord("fix check ci all full run once coverage cov", sub) {
			s.filters = append(s.filters, sub)
		}
		s.narrow(args[i+1:])
		return
	}
}

// nearKind finds the word that says what is done in a name that has more: "ecto.migrate", "test-unit", "//pkg:test".
func nearKind(a string) (word, rest string) {
	parts := strings.FieldsFunc(a, func(r rune) bool { return strings.ContainsRune(":.-_/", r) })
	for i, p := range parts {
		if kinds[p] != "" && len(p) > 1 && (i == 0 || i == len(parts)-1) {
			return p, strings.Join(slices.Delete(slices.Clone(parts), i, i+1), "-")
		}
	}
	return "", ""
}

// narrow takes in the files, packages or patterns that a step is limited to.
func (s *Step) narrow(args []string) {
	if s.Kind == "install" || s.Kind == "build" && s.Family == "js" {
		s.paths = args
		return
	}
	for _, a := range args {
		if a = strings.TrimPrefix(a, "./"); !hasWord(". ... src tests test run", a) && a != "" && !hasWord("lint check format fmt", a) {
			s.paths = append(s.paths, a)
		}
		if s.Family == "py" && kinds[a] != "" && s.Kind == "" {
			s.Kind = kinds[a]
		}
	}
}

// launched removes what runs another command before that command: wrappers, environments and containers.
func launched(words []string) []string {
	for range 8 {
		words = unwrap(words)
		if len(words) < 2 {
			return words
		}
		n := launching(baseName(words[0]), words[1:])
		if n <= 0 {
			return words
		}
		words = words[min(n, len(words)-1):]
	}
	return words
}

// launching returns how many words belong to a launcher with its options, or 0.
func launching(name string, args []string) int {
	after := func(skip int, verbs string) int {
		for i, a := range args {
			if hasWord(verbs, a) {
				n := i + 1
				for n < len(args) && strings.HasPrefix(args[n], "-") {
					if args[n] == "--" {
						return n + 2
					}
					if hasWord("-e -u -w --env --user --workdir -p --with --python --extra --group", args[n]) {
						n++
					}
					n++
				}
				return n + skip + 1
			}
			if !strings.HasPrefix(a, "-") && i > 2 {
				break
			}
		}
		return 0
	}
	switch name {
	case "npx", "bunx", "pnpx", "uvx", "pipx", "cross-env", "dotenv", "xvfb-run", "unbuffer", "caffeinate", "chronic":
		n := 1
		for n <= len(args) && (strings.HasPrefix(args[n-1], "-") || isAssignment(args[n-1]) || args[n-1] == "run") {
			n++
		}
		return n
	case "xargs":
		return 1 + len(args) - len(operandsFrom(args))
	case "uv", "poetry", "pipenv", "pdm", "hatch", "rye", "devbox", "conda":
		return after(0, "run")
	case "bundle", "mise", "direnv", "asdf", "doppler", "op", "aws-vault":
		return after(0, "exec x")
	case "pnpm", "yarn", "npm":
		return after(0, "exec dlx x")
	case "docker", "podman", "docker-compose", "kubectl":
		return after(1, "exec run")
	}
	return 0
}

// Steps returns the steps of a shell call, in order.
func (c *Call) Steps() []Step {
	if c.Command == "" {
		return nil
	}
	return stepsOf(c.Command, c.Dir, true, 0)
}

// stepsOf returns the steps of a shell text that is run in dir. sure says that its exit status is known if that of the
// text around it is.
func stepsOf(src, dir string, sure bool, depth int) (out []Step) {
	cmds := splitShell(src)
	own, blamed := statuses(cmds)
	for i := range cmds {
		words := launched(cmds[i].words)
		if len(words) == 0 {
			continue
		}
		if name := baseName(words[0]); (name == "cd" || name == "pushd") && len(words) > 1 {
			dir = key(dir, words[1])
			continue
		}
		inner := simple{words: words, heredoc: cmds[i].heredoc}
		if text := innerScript(&inner); text != "" && depth < maxNesting {
			out = append(out, stepsOf(text, dir, sure && own[i], depth+1)...)
			continue
		}
		if s, ok := stepOf(words); ok {
			s.dir = stepDir(dir, s.dir)
			s.sure, s.blamed = sure && own[i], sure && blamed[i]
			s.filtered(cmds[i:])
			out = append(out, s)
		}
	}
	return out
}

// filtered takes in what the commands of a pipe behind the first let through of its output.
func (s *Step) filtered(pipe []simple) {
	for i := 1; i < len(pipe) && pipe[i-1].join == '|' && len(pipe[i].words) > 0; i++ {
		switch w := pipe[i].words; baseName(w[0]) {
		case "head":
			_, s.first, _ = span(w)
		case "grep", "rg", "egrep", "awk", "sed", "jq", "cut", "wc", "python3", "python":
			s.match = strings.ToLower(strings.Join(w, " "))
		}
	}
}

func stepDir(dir, own string) string {
	if own == "" {
		return dir
	}
	return key(dir, strings.TrimSuffix(own, "/Cargo.toml"))
}

// statuses says of each command of a shell text whether an exit status of 0 of the whole is its own, too, and
// whether any other may be: that of a pipe is its last command's.
func statuses(cmds []simple) (own, blamed []bool) {
	own, blamed = make([]bool, len(cmds)), make([]bool, len(cmds))
	errexit, pipefail := false, false
	for i := range cmds {
		w := cmds[i].words
		if len(w) > 1 && w[0] == "set" {
			errexit = errexit || strings.HasPrefix(w[1], "-") && strings.Contains(w[1], "e")
			pipefail = pipefail || slices.Contains(w, "pipefail")
		}
		if len(w) > 0 && hasWord("if elif else then while until case for do !", w[0]) {
			return own, blamed // which of them are run, and whose status it is, is open
		}
	}
	certain := true
	for i := len(cmds) - 1; i >= 0; i-- {
		last := i == len(cmds)-1
		switch join := cmds[i].join; {
		case join == '|' && !pipefail:
			blamed[i] = certain && passive(cmds[i+1:]) // where the shell has pipefail from its start
			continue
		case join == '&', join == 'o' && !gives(&cmds[i+1]), join == ';' && !last && !errexit:
			certain = false
		}
		own[i], blamed[i] = certain, certain
	}
	return own, blamed
}

// gives reports whether a command does nothing but end the text with a status that is not 0.
func gives(c *simple) bool {
	return len(c.words) > 0 && hasWord("exit return false", c.words[0]) && (len(c.words) == 1 || c.words[1] != "0")
}

// passive reports whether the rest of a pipe lets lines through and does not fail by itself.
func passive(cmds []simple) bool {
	for i := range cmds {
		if w := cmds[i].words; len(w) == 0 || !hasWord("tail head tee cat sed less ts", baseName(w[0])) {
			return false
		}
		if cmds[i].join != '|' {
			return true
		}
	}
	return true
}

// interpreterTests knows python -m pytest, python manage.py test and node --test.
func interpreterTests(args []string) bool {
	for i, a := range args {
		switch {
		case a == "--test":
			return true
		case a == "-m" && i+1 < len(args):
			return args[i+1] == "unittest" || args[i+1] == "pytest" || args[i+1] == "nose2"
		case a == "-c":
			return false
		case strings.HasSuffix(a, "manage.py") && i+1 < len(args):
			return args[i+1] == "test"
		}
	}
	return false
}
