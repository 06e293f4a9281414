//go:build unix

package chatserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/provider/anthropic"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// What a service that is killed works with stands in its environment.
const (
	killedDB     = "DECANT_TEST_KILLED_DB"
	killedModel  = "DECANT_TEST_KILLED_MODEL"
	killedEffect = "DECANT_TEST_KILLED_EFFECT"
)

// effect is a tool whose calls can be counted afterwards, in a file. Each takes until its run ends.
func effect(file string) agent.Tool {
	return agent.Func("effect", "Has an effect.", func(ctx context.Context, _ *agent.Call, _ struct{}) (agent.Result, error) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return agent.Result{}, err
		}
		defer f.Close()
		if _, err := f.WriteString("once\n"); err != nil {
			return agent.Result{}, err
		}
		<-ctx.Done()
		return agent.Result{}, ctx.Err()
	})
}

// This is no test, but the process that TestAKilledServiceIsTakenOverFrom kills.
func TestServiceThatIsKilled(t *testing.T) {
	if os.Getenv(killedDB) == "" {
		t.Skip("only another test starts it")
	}
	w := newWorld(t, echo, func(w *world) {
		client, err := anthropic.New(anthropic.Options{Base: os.Getenv(killedModel), Credential: provider.Key("x-api-key", "test")})
		if err != nil {
			t.Fatal(err)
		}
		w.path, w.client, w.tools = os.Getenv(killedDB), client, []agent.Tool{effect(os.Getenv(killedEffect))}
	})
	w.goOn()
	fmt.Println(w.http.URL)
	io.Copy(io.Discard, os.Stdin) // until it is killed, or who has started it ends
}

// starts starts the process of another service on the database of a world, and returns it with the address of the service.
func (w *world) starts(file string) (*exec.Cmd, string) {
	w.Helper()
	model := httptest.NewServer(w.model)
	w.Cleanup(model.Close)
	cmd := exec.Command(os.Args[0], "-test.run=^TestServiceThatIsKilled$")
	cmd.Env = append(os.Environ(), killedDB+"="+w.path, killedModel+"="+model.URL, killedEffect+"="+file)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		w.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		w.Fatal(err)
	}
	return cmd, strings.TrimSpace(line)
}

// Where the process of a service is killed while a call has its effect, another service on the database goes on with the run. The
// effect happens once, and who listens at the other service sees how the run goes on.
func TestAKilledServiceIsTakenOverFrom(t *testing.T) {
	file := filepath.Join(t.TempDir(), "effects")
	w := newWorld(t, sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
		if p.Answers() == 0 {
			return uses("toolu_1", "effect", `{}`)
		}
		return says("heard: " + last(p))
	}), func(w *world) { w.tools = []agent.Tool{effect(file)} })
	here := &clock{}
	second := w.beside(func(o *Options) { o.Now = here.now })
	cmd, at := w.starts(file)
	id := w.session()
	path := "/v1/sessions/" + id
	heard := make(chan heardBy, 1)
	go func() { heard <- second.follows(path + "/events") }()
	testkit.Eventually(t, "somebody listens", func() bool { return second.users(id) == 1 })

	said, err := http.Post(at+path+"/messages", "application/json", strings.NewReader(`{"text":"do it"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Body.Close()
	testkit.Eventually(t, "the effect", func() bool { _, err := os.Stat(file); return err == nil })
	tend := func() {
		if err := second.service.rooms.tended(t.Context()); err != nil {
			t.Fatal(err)
		}
		second.service.rooms.tending.Wait()
	}
	tend()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // it says that the process was killed
	tend()     // which may have touched its lease since
	here.add(leaseLasts + time.Nanosecond)
	tend()
	h := testkit.Received(t, "the end of the run", heard)
	if end := h.messages[len(h.messages)-1]; !strings.HasPrefix(end, "heard: ") || !strings.Contains(strings.Join(h.messages, "\n"), "do it") {
		t.Errorf("who listens is shown %q", h.messages)
	}
	if done, err := os.ReadFile(file); err != nil || string(done) != "once\n" {
		t.Errorf("effects: %q, %v", done, err)
	}
	asked := slices.DeleteFunc(w.model.Log.Entries(), func(e sandbox.Entry) bool { return e.Path != "/v1/messages" })
	if len(asked) != 2 {
		t.Errorf("the model is asked %d times, want 2", len(asked))
	}
	w.legal()
}

// follows listens as pages do, which come back with the id of their last event, and returns what is shown once a run has ended.
func (w *world) follows(path string) (h heardBy) {
	for over := false; !over && !w.Failed(); {
		res := w.do(httpCall{method: "GET", path: path, header: map[string]string{"Last-Event-ID": h.lastID}})
		events(w, res, func(e arrived) bool {
			h.take(e)
			over = e.Kind == string(agent.EventDone)
			return !over
		})
	}
	return h
}

// users returns how many requests use the room of a session.
func (w *world) users(id string) int {
	rooms := w.service.rooms
	rooms.mu.Lock()
	defer rooms.mu.Unlock()
	if rm := rooms.all[keyOf(id)]; rm != nil {
		return rm.users
	}
	return 0
}
