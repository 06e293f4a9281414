package soak

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/decantdev/decant/testing/testkit"
)

// An operator works at the command line while the gateway serves.
type operator struct {
	s     *soak
	n     int
	guest *client
}

func newOperator(s *soak) *operator { return &operator{s: s, guest: newClient(s, 1000)} }

// work runs one command after the other until the context ends.
func (o *operator) work(ctx context.Context) {
	defer o.guest.http.CloseIdleConnections()
	tasks := []func(){
		o.command("sessions", "--all-tenants"), o.command("report", "--all-tenants"), o.command("search", "--all-tenants", "error"), o.show,
		o.command("gc", "--all-tenants"), o.forget, o.command("audit"), o.invite, o.export, o.hangup, o.command("key", "list"),
		o.command("gc", "--all-tenants", "--dry-run"), o.command("search", "--tenant", "alice", "the", "file"), o.command("db", "check"), o.view,
	}
	for pause(ctx, 3*time.Second) {
		tasks[o.n%len(tasks)]()
		o.n++
	}
}

// run runs a command and counts it. It reports whether there is the conversation that it names: what was answered while
// the database was busy may be stored under another id, as verify finds.
func (o *operator) run(args ...string) bool {
	begin, err := time.Now(), error(nil)
	for range 20 { // a busy machine keeps the database locked for longer than a command waits: one tries again
		if _, err = o.s.gate.decant(args...); err == nil || !strings.Contains(err.Error(), "keeps the database busy") {
			break
		}
		o.s.tally.did("decant " + args[0] + " again, since the database was busy")
	}
	o.s.tally.did("decant " + args[0])
	if d := time.Since(begin); d > 20*time.Second {
		o.s.tally.did(fmt.Sprintf("decant %s took %.0f s", args[0], d.Seconds()))
	}
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "decant: no conversation "):
		o.s.tally.did("decant " + args[0] + " of an id that was not stored")
		return false
	default:
		o.s.tally.wrong(err.Error())
	}
	return true
}

func (o *operator) command(args ...string) func() { return func() { o.run(args...) } }

// finished returns a conversation that nobody goes on with.
func (o *operator) finished() *line {
	return o.s.lines.pick(rand.IntN(1<<20), func(*line) bool { return true })
}

func (o *operator) show() {
	if l := o.finished(); l != nil {
		o.run("show", l.key.ID, "--tenant", l.tenant.name)
	}
}

func (o *operator) view() {
	if l := o.finished(); l != nil {
		o.run("export", l.key.ID, "--view", "--as", "text", "--tenant", l.tenant.name, "-o", o.s.gate.file("export.txt"))
	}
}

func (o *operator) export() {
	if l := o.finished(); l != nil {
		o.run("export", l.key.ID, "--tenant", l.tenant.name, "-o", o.s.gate.file("export.json"))
	}
}

// forget forgets a conversation that no other begins with.
func (o *operator) forget() {
	l := o.s.lines.pick(rand.IntN(1<<20), func(l *line) bool { return !l.forked })
	if l == nil {
		return
	}
	gone := o.run("forget", "--yes", l.key.ID, "--tenant", l.tenant.name)
	l.mu.Lock()
	l.gone = gone
	l.mu.Unlock()
}

// invite makes a key for a guest, who asks something, and takes it back. A gateway notices both within seconds.
func (o *operator) invite() {
	g := o.s.gate.addKey(fmt.Sprint("guest", o.n))
	o.s.tally.did("decant key add")
	if !o.becomes(g, http.StatusOK) {
		o.s.tally.wrong("a new key is not admitted")
	}
	o.run("key", "revoke", strings.Split(g.key, "_")[1])
	if !o.becomes(g, http.StatusUnauthorized) {
		o.s.tally.wrong("a revoked key stays admitted")
	}
}

// becomes asks until a tenant's requests have a status.
func (o *operator) becomes(who *tenant, status int) bool {
	hello := []byte(`{"model":"claude-sonnet-4-5","max_tokens":10,"messages":[{"role":"user","content":"Hello."}]}`)
	for begin := time.Now(); time.Since(begin) < testkit.Patience; time.Sleep(200 * time.Millisecond) {
		q := &question{method: http.MethodPost, path: "/v1/messages", body: hello, who: who}
		got := o.guest.ask(q)
		o.s.tally.add(q, got)
		if got.status == status {
			return true
		}
	}
	return false
}

// hangup has the gateway read its settings anew.
func (o *operator) hangup() {
	o.s.gate.cmd.Process.Signal(syscall.SIGHUP)
	o.s.tally.did("SIGHUP")
}

// lock keeps the database locked for a second, again and again, as a backup by other means does.
func (s *soak) lock(ctx context.Context) {
	db, err := sql.Open("sqlite", filepath.Join(s.dir, "d.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		s.t.Error(err)
		return
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for pause(ctx, 20*time.Second) {
		if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
			continue // somebody else has it: as good
		}
		time.Sleep(time.Second)
		db.Exec("ROLLBACK")
		s.tally.did("database locked for a second")
	}
}
