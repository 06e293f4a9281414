package permission

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/internal/trust"
)

// A fit is how a rule fits a call.
type fit int

const (
	no    fit = iota
	maybe     // it may: what the call does cannot be told from its arguments
	yes
)

// A subject is a call as rules look at it.
type subject struct {
	tool  string
	line  line     // of bash
	host  string   // of fetch
	paths []string // of a file: as it is named, and as its links lead
	fault bool     // its arguments cannot be read
}

// subjectOf reads the arguments of a call.
func (g *Guard) subjectOf(c *agent.Call) subject {
	s := subject{tool: c.Tool}
	var args struct {
		Command  string `json:"command"`
		URL      string `json:"url"`
		FilePath string `json:"file_path"`
		Path     string `json:"path"`
	}
	switch c.Tool {
	case toolBash, toolFetch, toolRead, toolEdit, toolWrite, toolGrep, toolGlob:
	default:
		return s // a tool that rules name as a whole
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		s.fault = true
		return s
	}
	switch c.Tool {
	case toolBash:
		s.line = parseLine(args.Command)
		s.fault = s.line.fault != nil
	case toolFetch:
		u, err := url.Parse(args.URL)
		if s.fault = err != nil || u.Hostname() == ""; !s.fault {
			s.host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
		}
	case toolGrep, toolGlob:
		s.paths = g.paths(args.Path)
	default:
		s.paths = g.paths(args.FilePath)
	}
	return s
}

// obeyed reports whether a call changes a file whose words are run or obeyed once somebody works in the project. No rule allows that.
func (s *subject) obeyed() bool {
	return (s.tool == toolWrite || s.tool == toolEdit) && slices.ContainsFunc(s.paths, trust.Obeyed)
}

// paths returns a path as it is named and as its symbolic links lead, both as rules name files.
func (g *Guard) paths(name string) []string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(g.dir, name)
	}
	name = filepath.Clean(name)
	return []string{g.relative(name), g.relative(followed(name))}
}

// followed follows the symbolic links of a path as far as it exists, and those that lead to what does not exist yet.
func followed(name string) string {
	for at, rest, links := name, "", 0; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(at); err == nil && links < 40 {
			if !filepath.IsAbs(to) {
				to = filepath.Join(followed(filepath.Dir(at)), to)
			}
			at, links = to, links+1
			continue
		}
		parent := filepath.Dir(at)
		if parent == at {
			return name
		}
		at, rest = parent, filepath.Join(filepath.Base(at), rest)
	}
}

// relative returns a path as rules name it: from the project on, or absolute where it is not of the project.
func (g *Guard) relative(name string) string {
	for _, dir := range []string{g.dir, g.real} {
		rel, err := filepath.Rel(dir, name)
		if err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(name)
}

// forbids returns how a rule that denies or asks fits a call: one command, one name of a file is enough.
func (r *Rule) forbids(s *subject) fit {
	switch {
	case !r.about(s.tool):
		return no
	case r.spec == "":
		return yes
	case s.fault:
		return maybe
	case s.tool == toolBash:
		return r.among(&s.line)
	case s.tool == toolFetch:
		return fits(r.host(s.host))
	}
	return fits(slices.ContainsFunc(s.paths, func(name string) bool { // case does not matter: on some systems it is the same file
		ok, err := doublestar.Match(strings.ToLower(r.spec), strings.ToLower(name))
		return ok && err == nil
	}))
}

// among returns how a rule fits the commands of a line.
func (r *Rule) among(l *line) fit {
	best := no
	if l.hidden {
		best = maybe
	}
	for _, c := range slices.Concat(l.commands, l.inner) {
		c.words = slices.Clone(c.words)
		if len(c.words) > 0 && strings.Contains(c.words[0], "/") && !strings.Contains(r.words[0], "/") {
			c.words[0] = path.Base(c.words[0])
		}
		best = max(best, r.names(c))
	}
	return best
}

// names returns how a rule fits one command.
func (r *Rule) names(c command) fit {
	n := min(len(r.words), len(c.words))
	if !slices.Equal(r.words[:n], c.words[:n]) {
		return no
	}
	switch {
	case n < len(r.words):
		return cmpFit(!c.complete, maybe)
	case r.prefix:
		return yes
	case !c.complete:
		return maybe
	}
	return fits(len(c.words) == n)
}

func cmpFit(is bool, f fit) fit {
	if is {
		return f
	}
	return no
}

func fits(is bool) fit { return cmpFit(is, yes) }

// host reports whether a rule names a host.
func (r *Rule) host(host string) bool {
	name := strings.TrimPrefix(r.spec, "domain:")
	if below, ok := strings.CutPrefix(name, "*."); ok {
		return strings.HasSuffix(host, "."+below)
	}
	return host == name
}

// file reports whether a rule names a file.
func (r *Rule) file(name string) bool {
	ok, err := doublestar.Match(r.spec, name)
	return ok && err == nil
}

// allowed reports whether rules that allow cover all that a call does.
func allowed(rules []Rule, s *subject) bool {
	rules = slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return !r.about(s.tool) })
	if slices.ContainsFunc(rules, func(r Rule) bool { return r.spec == "" }) {
		return true
	}
	all := func(f func(*Rule) bool) bool { return slices.ContainsFunc(rules, func(r Rule) bool { return f(&r) }) }
	switch {
	case s.fault:
		return false
	case s.tool == toolBash:
		return allowedLine(rules, &s.line)
	case s.tool == toolFetch:
		return all(func(r *Rule) bool { return r.host(s.host) })
	case len(s.paths) == 0:
		return false
	}
	for _, p := range s.paths {
		if !all(func(r *Rule) bool { return r.file(p) }) {
			return false
		}
	}
	return true
}

// allowedLine reports whether each command of a line is allowed, and the line does nothing but run them.
func allowedLine(rules []Rule, l *line) bool {
	if !l.plain || len(l.commands) == 0 {
		return false
	}
	moves, placed := false, false
	for _, c := range l.commands {
		if !slices.ContainsFunc(rules, func(r Rule) bool { return r.permits(&c) }) {
			return false
		}
		moves = moves || movers[c.words[0]]
		placed = placed || strings.Contains(c.words[0], "/") && !path.IsAbs(c.words[0])
	}
	return !moves || !placed // in another folder ./run is another program
}

// movers are words of the shell by which it goes to another folder.
var movers = words("cd pushd popd")

// permits reports whether a rule that allows names all that a command does.
func (r *Rule) permits(c *command) bool {
	return r.wide == "" && r.names(*c) == yes && (!r.prefix && !setters[c.words[0]] || c.keeps(len(r.words)))
}
