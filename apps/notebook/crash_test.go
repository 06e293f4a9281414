package notebook_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/apps/notebook"
	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/sqlite"
	"github.com/decantdev/decant/testing/testkit"
)

// The environment by which this program writes in a notebook until it is killed.
const (
	writesIn = "DECANT_TEST_NOTEBOOK"
	diesAt   = "DECANT_TEST_DIES_AT"
)

func TestMain(m *testing.M) {
	if root := os.Getenv(writesIn); root != "" {
		if err := writeUntilKilled(root); err != nil {
			fmt.Println("failed:", err)
		}
		return
	}
	os.Exit(m.Run())
}

// A mortal is a store whose process is killed at its nth change: before what is changed is stored, or after that.
type mortal struct {
	store.Store
	left int
}

func (m *mortal) Revise(ctx context.Context, tenant string, at memory.Scope, do func([]memory.Item) ([]memory.Item, error)) error {
	m.die()
	err := m.Store.Revise(ctx, tenant, at, do)
	m.die()
	return err
}

func (m *mortal) die() {
	if m.left--; m.left == 0 {
		p, _ := os.FindProcess(os.Getpid())
		p.Kill()
		select {}
	}
}

// writeUntilKilled does what a notebook does all day, and prints what it has noted once it is noted.
func writeUntilKilled(root string) error {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, filepath.Join(root, "d.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	at := 0
	fmt.Sscan(os.Getenv(diesAt), &at)
	b, err := notebook.Open(notebook.Options{Memories: &mortal{db, at}, Root: root})
	if err != nil {
		return err
	}
	pid := os.Getpid()
	for n := 0; ; n++ {
		rule, err := b.AddRule(ctx, fmt.Sprintf("Rule %d of process %d", n, pid), "", memory.Source{})
		if err != nil {
			return err
		}
		fmt.Println(rule.Text)
		if _, err = b.Share(ctx, []string{rule.ID}); err != nil {
			return err
		}
		task, err := b.Done(ctx, fmt.Sprintf("Task %d of process %d", n, pid), notebook.Task{}, memory.Source{})
		if err != nil {
			return err
		}
		fmt.Println(task.Text)
		if _, err := b.Scan(ctx, true, true); err != nil {
			return err
		}
	}
}

// A process that is killed at each of its first changes, before and after they are stored, and at moments that it does not know of,
// while somebody edits the files: no record that was noted is lost, no line that was written, and no file is half.
func TestKilledAtAnyPoint(t *testing.T) {
	d := newDesk(t)
	d.db.Close()
	d.name = filepath.Join(d.root, "d.db")
	d.reopen()
	b := d.book()
	var noted, edits []string
	points := testkit.Depth(4, 16)
	for n := 1; n <= points; n++ {
		at := n
		if n%4 == 0 {
			at = 0 // from outside, while it writes
		}
		noted = append(noted, d.kill(at, 3+n)...)
		edits = append(edits, fmt.Sprintf("Edit %d", n))
		d.write(b, notebook.DecisionsFile, d.read(b, notebook.DecisionsFile)+"- "+edits[n-1]+"\n") // before anybody has read what was left
		d.reopen()
		b = d.open(d.root)
		_, err := b.Sync(t.Context())
		d.no(err)
		d.whole(b)
	}
	all, err := b.Items(t.Context(), notebook.Query{Archived: true})
	d.no(err)
	have := map[string]int{}
	for i := range all {
		have[all[i].Text]++
	}
	for _, text := range append(noted, edits...) {
		if have[text] != 1 {
			t.Errorf("%q is there %d times", text, have[text])
		}
	}
	if len(noted) < points {
		t.Errorf("only %d records were noted before the kills", len(noted))
	}
}

// reopen opens the database as the next process does.
func (d *desk) reopen() {
	d.db.Close()
	var err error
	d.db, err = sqlite.Open(d.Context(), d.name, sqlite.Options{})
	d.no(err)
}

// kill runs a process that writes, until it dies at its nth change, or else is killed once it has noted some records. It returns
// what it has noted.
func (d *desk) kill(at, some int) (noted []string) {
	d.Helper()
	d.db.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writesIn+"="+d.root, fmt.Sprintf("%s=%d", diesAt, at))
	out, err := cmd.StdoutPipe()
	d.no(err)
	d.no(cmd.Start())
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			break
		}
		if strings.HasPrefix(line, "failed:") {
			d.Fatal(line)
		}
		noted = append(noted, strings.TrimSpace(line))
		if at == 0 && len(noted) == some {
			d.no(cmd.Process.Kill())
		}
	}
	cmd.Wait() // it was killed
	return noted
}

// whole insists that every file is what the store makes, and what is shared a record a line.
func (d *desk) whole(b *notebook.Book) {
	d.Helper()
	d.same(b)
	text, err := os.ReadFile(filepath.Join(d.root, ".decant", "shared.jsonl"))
	if os.IsNotExist(err) {
		return
	}
	d.no(err)
	last := ""
	for one := range strings.Lines(string(text)) {
		var line struct{ ID, Text string }
		err := json.Unmarshal([]byte(one), &line, json.MatchCaseInsensitiveNames(true))
		if err != nil || line.ID <= last || line.Text == "" || !strings.HasSuffix(one, "\n") {
			d.Errorf("the shared file is not whole, %v:\n%s", err, text)
		}
		last = line.ID
	}
	left, err := filepath.Glob(filepath.Join(b.Dir(), ".decant-*"))
	if len(left) > 5 {
		d.Errorf("%d files were left: %v", len(left), err)
	}
}
