package measure_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/internal/testdepth"
	"github.com/decantdev/decant/internal/triage/code"
	"github.com/decantdev/decant/internal/triage/event"
	"github.com/decantdev/decant/internal/triage/investigate"
	"github.com/decantdev/decant/internal/triage/layer"
)

// A mutation is a change that brings an error, and the error as the program has written it down.
type mutation struct {
	change
	host  *host
	event event.Event
}

// A trial is how mutations are put before who investigates.
type trial struct {
	renamed  bool // files and identifiers have other names
	repaired bool // the code that ran is without the mutation
	noisy    bool // another commit has brought code that looks like the cause
}

// Mutations of five kinds are made afresh, and the errors that they bring recorded by running the programs. With the layers on as
// much is found as without them, less one. With other names it is the same. Without the defect nothing is blamed, and noise is not either.
func TestMutations(t *testing.T) {
	each := testdepth.Of(1, 12)
	all := mutations(t, each)
	if len(all) < len(kinds)*each {
		t.Errorf("%d mutations bring errors, want %d", len(all), len(kinds)*each)
	}
	off, on := found(t, all, trial{}, layer.Only()), found(t, all, trial{}, layer.Set{})
	renamed := found(t, all, trial{renamed: true}, layer.Set{})
	repaired, noisy := found(t, all, trial{repaired: true}, layer.Set{}), found(t, all, trial{noisy: true}, layer.Set{})
	sum := func(list []verdict, of func(verdict) bool) (n int) {
		for _, v := range list {
			if of(v) {
				n++
			}
		}
		return n
	}
	hit, wrong := func(v verdict) bool { return v.hit }, func(v verdict) bool { return v.blamed }
	explained := func(v verdict) bool { return v.state == investigate.RootCause }
	for i, m := range all {
		t.Logf("%-16s %-8s %-34s off %-5v on %-5v renamed %-5v noisy %-5v repaired %s", m.kind, m.host.name, fmt.Sprintf("%s:%d", m.file, m.from), off[i].hit, on[i].hit, renamed[i].hit, noisy[i].hit, repaired[i].state)
	}
	for _, k := range kinds {
		of := func(list []verdict) (n int) {
			for i, v := range list {
				if all[i].kind == k && v.hit {
					n++
				}
			}
			return n
		}
		t.Logf("%-16s off %d, on %d, renamed %d, noisy %d of %d", k, of(off), of(on), of(renamed), of(noisy), each)
	}
	t.Logf("found: off %d, on %d, renamed %d, with noise %d of %d; other causes named: off %d, on %d, renamed %d, with noise %d; explained without the defect: %d; noise blamed: %d",
		sum(off, hit), sum(on, hit), sum(renamed, hit), sum(noisy, hit), len(all), sum(off, explained)-sum(off, hit), sum(on, explained)-sum(on, hit), sum(renamed, explained)-sum(renamed, hit),
		sum(noisy, explained)-sum(noisy, hit), sum(repaired, explained), sum(noisy, wrong))
	if sum(on, hit) < sum(off, hit)-1 || sum(renamed, hit) < sum(on, hit) || sum(repaired, explained) > 0 || sum(noisy, wrong) > 0 || sum(on, hit)*3 < len(all)*2 {
		t.Error("that is not enough")
	}
}

// mutations returns so many of each kind, from the programs by turns.
func mutations(t *testing.T, each int) (out []mutation) {
	t.Helper()
	for _, program := range []string{"git", "go", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	programs := hosts(t)
	known := map[*host]map[string]bool{}
	for _, h := range programs {
		known[h] = map[string]bool{}
		for _, e := range h.with(t, "", "") {
			known[h][e.ID+e.Class+e.Message] = true
		}
	}
	for _, k := range kinds {
		var queues [][]mutation
		for _, h := range programs {
			queues = append(queues, candidates(h, k))
		}
		n := 0
		for i := 0; n < each && slices.ContainsFunc(queues, func(q []mutation) bool { return len(q) > 0 }); i = (i + 1) % len(queues) {
			for len(queues[i]) > 0 {
				m := queues[i][0]
				queues[i] = queues[i][1:]
				if m.brings(t, known[m.host]) {
					out, n = append(out, m), n+1
					break
				}
			}
		}
	}
	return out
}

// candidates returns the mutations of a kind in a program.
func candidates(h *host, kind string) (out []mutation) {
	for _, name := range slices.Sorted(maps.Keys(h.files)) {
		if strings.HasSuffix(name, "report.go") || strings.HasSuffix(name, "log.py") || !slices.Contains([]string{".go", ".py", ".ini"}, path.Ext(name)) {
			continue
		}
		for _, c := range changes(name, h.files[name]) {
			if c.kind == kind {
				out = append(out, mutation{change: c, host: h})
			}
		}
	}
	return out
}

// brings runs the program with the mutation, and notes the first error that was not there without it.
func (m *mutation) brings(t *testing.T, known map[string]bool) bool {
	for _, e := range m.host.with(t, m.file, m.made(m.host.files[m.file])) {
		own := slices.ContainsFunc(e.Frames, func(f event.Frame) bool { return f.InApp })
		if own && !known[e.ID+e.Class+e.Message] && (m.kind != "timeout" || strings.Contains(strings.ToLower(e.Class+e.Message), "time")) {
			m.event = e
			return true
		}
	}
	return false
}

// A verdict is what became of a mutation.
type verdict struct {
	state  investigate.State
	hit    bool // the mutation was named: by a line at most three away from it, or by its commit
	blamed bool // what only looks guilty was named
}

var day = time.Date(2026, 11, 20, 6, 0, 0, 0, time.UTC)

// found has all errors investigated.
func found(t *testing.T, all []mutation, how trial, off layer.Set) []verdict {
	t.Helper()
	w := &world{now: day, services: map[string]string{}, budget: 60_000}
	brought, noise := map[string]string{}, map[string]string{} // commits
	noisyFrom := map[string]int{}
	for i, m := range all {
		names := naming{}
		if how.renamed {
			names = renaming(m.host.files)
		}
		service := fmt.Sprintf("s%03d", i)
		dir := t.TempDir()
		commits := m.history(t, dir, how, names)
		brought[service], noise[service], noisyFrom[service] = commits[1], commits[len(commits)-1], strings.Count(m.host.files[m.file], "\n")
		r := code.Repo{Name: "acme/" + service, Dir: dir, Paths: m.host.mapping}
		w.repos = append(w.repos, r)
		w.services[service] = r.Name
		e := m.event
		e.Service, e.Release, e.Time, e.ID = service, "v2", day.Add(-time.Hour), service
		e.Message, e.Frames = names.text(e.Message), nil
		for _, f := range m.event.Frames {
			if how.renamed {
				f.File, f.Function = names.file(f.File), names.text(f.Function)
			}
			e.Frames = append(e.Frames, f)
		}
		w.events = append(w.events, e)
	}
	out := make([]verdict, len(all))
	r := w.investigated(t, off, false)
	if len(r.Errors) != len(all) {
		t.Fatalf("%d errors of %d mutations", len(r.Errors), len(all))
	}
	for _, e := range r.Errors {
		var i int
		if _, err := fmt.Sscanf(e.Service, "s%d", &i); err != nil || e.Finding == nil {
			t.Fatalf("%s: %v", e.Service, err)
		}
		f, v := e.Finding, verdict{state: e.Finding.State}
		commit := ""
		if f.Suspect != nil {
			commit = f.Suspect.SHA
		}
		v.hit = f.State == investigate.RootCause && commit == brought[e.Service] && !how.repaired
		v.blamed = how.noisy && f.State == investigate.RootCause && commit == noise[e.Service]
		for _, q := range f.Evidence {
			near := strings.HasSuffix(q.Path, path.Base(m(all, i, how))) && q.Line >= all[i].from-3 && q.Line <= all[i].to+3
			v.hit = v.hit || f.State == investigate.RootCause && near
			v.blamed = v.blamed || how.noisy && f.State == investigate.RootCause && q.Line > noisyFrom[e.Service] && strings.HasSuffix(q.Path, path.Base(m(all, i, how)))
		}
		out[i] = v
	}
	return out
}

// m returns the name of the file with the mutation.
func m(all []mutation, i int, how trial) string {
	if how.renamed {
		return (naming{}).file(all[i].file)
	}
	return all[i].file
}

// history makes a repository: the program as it was, v1; the mutation; with noise, a commit that brings what only looks guilty. The last is v2.
func (m *mutation) history(t *testing.T, dir string, how trial, names naming) []string {
	t.Helper()
	run := func(in string, args ...string) string {
		c := exec.Command("git", args...)
		c.Stdin = strings.NewReader(in)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		b, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, b)
		}
		return strings.TrimSpace(string(b))
	}
	var stream strings.Builder
	commit := func(what string, at time.Time, files map[string]string) {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter Ada <ada@example.com> %d +0000\ndata %d\n%s\n", at.Unix(), len(what), what)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			text := files[name]
			if strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".py") {
				text = names.text(text)
			}
			if len(names) > 0 {
				name = names.file(name)
			}
			fmt.Fprintf(&stream, "M 100644 inline %q\ndata %d\n%s\n", name, len(text), text)
		}
	}
	was := m.host.files[m.file]
	now := m.made(was)
	if how.repaired {
		now = was + "\n"
	}
	commit("First version", day.AddDate(0, 0, -40), m.host.files)
	stream.WriteString("reset refs/tags/v1\nfrom refs/heads/main\n")
	commit("Simplify", day.AddDate(0, 0, -3), map[string]string{m.file: now})
	if how.noisy {
		commit("Add a helper", day.AddDate(0, 0, -2), map[string]string{m.file: now + guilty(m.file)})
	}
	stream.WriteString("reset refs/tags/v2\nfrom refs/heads/main\n")
	run("", "init", "-q", "-b", "main", dir)
	run(stream.String(), "-C", dir, "fast-import", "--quiet")
	return strings.Fields(run("", "-C", dir, "log", "--reverse", "--format=%H", "main"))
}

// guilty returns code that looks like the cause of many errors and is on no stack.
func guilty(file string) string {
	switch path.Ext(file) {
	case ".go":
		return `
func other(list []int, table map[string]*int, key string) int {
	const otherTimeout = 1
	value := table[key]
	for i := 0; i <= len(list); i++ {
		*value += list[i] / otherTimeout
	}
	return *value
}
`
	case ".py":
		return `

def other(items, table, key, timeout=0.001):
    value = table.get(key)
    for i in range(len(items) + 1):
        value.total += items[i] / table["size"]
    return value.strip()
`
	}
	return "\n[other]\nother_timeout_ms = 1\n"
}
