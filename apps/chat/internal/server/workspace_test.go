package chatserver

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/testing/sandbox"
	"github.com/decantdev/decant/testing/sandboxtest"
	"github.com/decantdev/decant/testing/testkit"
)

// orders is a model that makes the call that it is told to, as "TOOL {...}", and then says what came of it.
var orders = sandboxtest.Model(func(p *sandbox.Prompt) sandbox.Answer {
	text := last(p)
	name, arguments, ok := strings.Cut(text, " ")
	if i := strings.LastIndex(arguments, "}"); ok && strings.HasPrefix(arguments, "{") && i > 0 {
		return uses("", name, arguments[:i+1])
	}
	return says(text)
})

// spaced begins a service that lets agents have files, and commands, with an agent that has both.
func spaced(t *testing.T, allow ...string) *world {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "decant-test-") // commands see nothing of /tmp
	if err != nil {
		t.Skip("there is no /var/tmp:", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := newWorld(t, orders, func(w *world) {
		w.spaces = Workspaces{Dir: dir, Shell: runtime.GOOS == "linux", Most: tools.Amount{Bytes: 1 << 20, Files: 50}}
	})
	body := map[string]any{"name": "maker", "model": "claude-sonnet-4-5", "workspace": map[string]any{"files": true, "shell": w.spaces.Shell, "allow": allow}}
	if len(allow) == 0 {
		delete(body["workspace"].(map[string]any), "allow")
	}
	get[Agent](w, 201, httpCall{method: "POST", path: "/v1/agents", body: object(body)})
	return w
}

// maker begins a session of the agent with files.
func (w *world) maker() string {
	w.Helper()
	return get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions", body: `{"agent":"maker"}`}).ID
}

// folders returns the folders of sessions.
func (w *world) folders() []string {
	w.Helper()
	all, err := filepath.Glob(filepath.Join(w.spaces.Dir, "decant-*", "*"))
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// file returns what a file of a session holds, with the status.
func (w *world) file(id, path string) (string, *http.Response) {
	w.Helper()
	res := w.do(httpCall{method: "GET", path: "/v1/sessions/" + id + "/files/" + path})
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	return string(b), res
}

// put uploads a file.
func (w *world) put(want int, id, path, text string) {
	w.Helper()
	get[map[string]any](w, want, httpCall{method: "PUT", path: "/v1/sessions/" + id + "/files/" + path, body: text})
}

// list returns the paths of the files of a session.
func (w *world) list(id string) (out []string) {
	w.Helper()
	for _, f := range get[folderList](w, 200, httpCall{method: "GET", path: "/v1/sessions/" + id + "/files"}).Files {
		out = append(out, f.Path)
	}
	return out
}

// A service that gives no workspaces says so and names the key; so does one without commands.
func TestWorkspacesAreOffUnlessAllowed(t *testing.T) {
	w := newWorld(t, orders)
	for body, want := range map[string]string{
		`{"files":true}`: "workspace: this service gives agents no files", `{"shell":true}`: "workspace: this service gives agents no files",
	} {
		got := get[map[string]map[string]string](w, 400, httpCall{method: "POST", path: "/v1/agents", body: `{"name":"maker","model":"m","workspace":` + body + `}`})
		if !strings.Contains(got["error"]["message"], want) {
			t.Errorf("%s: %s", body, got)
		}
	}
	id := w.session()
	get[map[string]any](w, 409, httpCall{method: "GET", path: "/v1/sessions/" + id + "/files"})

	dir := t.TempDir()
	w = newWorld(t, orders, func(w *world) { w.spaces.Dir = dir })
	for body, want := range map[string]string{
		`{"files":true,"shell":true}`: "workspace.shell: ", `{}`: "workspace: set files", `{"files":true,"network":true}`: "network",
		`{"files":true,"allow":["bash(("]}`: "workspace.allow[0]: ",
	} {
		got := get[map[string]map[string]string](w, 400, httpCall{method: "POST", path: "/v1/agents", body: `{"name":"maker","model":"m","workspace":` + body + `}`})
		if !strings.Contains(got["error"]["message"], want) {
			t.Errorf("%s: %s", body, got)
		}
	}
	id = w.session()
	get[map[string]any](w, 409, httpCall{method: "PUT", path: "/v1/sessions/" + id + "/files/a", body: "x"})
}

// An agent changes a file when its user allows it, and the user has seen what would change.
func TestAnAgentWithFiles(t *testing.T) {
	w := spaced(t)
	id, other := w.maker(), w.maker()
	w.put(201, id, "notes/plan.md", "one\n")
	w.put(200, id, "notes/plan.md", "two\n")
	if o := w.say(id, `read {"file_path":"notes/plan.md"}`); !strings.Contains(o.Text, "two") {
		t.Errorf("read: %+v", o)
	}
	if o := w.say(id, `edit {"file_path":"notes/plan.md","old_string":"two","new_string":"three"}`); o.Stop != "approval" {
		t.Fatalf("edit: %+v", o)
	}
	ms := get[[]message](w, 200, httpCall{method: "GET", path: "/v1/sessions/" + id + "/messages"})
	waiting := ms[len(ms)-1].Calls[0]
	if !strings.Contains(waiting.Preview, "-two\n+three\n") {
		t.Errorf("the preview: %q", waiting.Preview)
	}
	w.restart() // it waits for as long as it takes
	o := get[outcome](w, 200, httpCall{method: "POST", path: "/v1/sessions/" + id + "/approvals/" + waiting.ID, body: `{"kind":"allow"}`})
	if text, _ := w.file(id, "notes/plan.md"); o.Stop != "answered" || text != "three\n" {
		t.Errorf("%+v, the file %q", o, text)
	}
	if got := w.list(other); len(got) != 0 {
		t.Errorf("another session has %q", got)
	}
	get[map[string]any](w, 204, httpCall{method: "DELETE", path: "/v1/sessions/" + id + "/files/notes/plan.md"})
	get[map[string]any](w, 404, httpCall{method: "DELETE", path: "/v1/sessions/" + id + "/files/notes/plan.md"})
	if len(w.list(id)) != 0 {
		t.Error("the file is still there")
	}
	info, err := os.Stat(w.folders()[0])
	if err != nil || info.Mode().Perm() != 0o700 || len(filepath.Base(w.folders()[0])) < 20 {
		t.Errorf("folder %s: %v, %v", w.folders()[0], info.Mode(), err)
	}
	w.legal()
}

// Files are saved and never shown by a browser.
func TestFilesAreDownloads(t *testing.T) {
	w := spaced(t)
	id := w.maker()
	w.put(201, id, `x%22y%0A.html`, "<script>alert(1)</script>")
	text, res := w.file(id, `x%22y%0A.html`)
	h := res.Header
	if text != "<script>alert(1)</script>" || h.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") ||
		h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") || strings.ContainsAny(h.Get("Content-Disposition"), "\r\n") {
		t.Errorf("%q with %v", text, h)
	}
}

// No path leads out of a folder, whatever is in the folder.
func TestPathsLeadNowhereElse(t *testing.T) {
	w := spaced(t)
	id := w.maker()
	w.put(201, id, "a/b", "x")
	in := filepath.Join(w.folders()[0], "files")
	secret := filepath.Join(w.spaces.Dir, "secret")
	if err := os.WriteFile(secret, []byte("of somebody else"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": secret, "up": "../../..", "self": "a/b", "root": "/", "proc": "/proc/self/environ"} {
		if err := os.Symlink(to, filepath.Join(in, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"..%2f..%2f..%2fsecret", "%2e%2e/%2e%2e/secret", "%2e%2e", "a/..%2f..%2fsecret", "%2fetc%2fpasswd", "link", "up/secret", "self", "root/etc/passwd", "proc",
		"a", "a/b/c", "a//b", "a%00b", ".", strings.Repeat("x", 300), "",
	} {
		for _, method := range []string{"GET", "PUT", "DELETE"} {
			if status, body := w.straight(method, "/v1/sessions/"+id+"/files/"+path); status < 300 || strings.Contains(body, "of somebody else") {
				t.Errorf("%s %s: %d %s", method, path, status, body)
			}
		}
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "of somebody else" {
		t.Errorf("the secret is %q, %v", b, err)
	}
	if got := w.list(id); strings.Join(got, " ") != "a/b" {
		t.Errorf("listed: %q", got)
	}
}

// straight makes a request, and follows no other address that a path is said to be the same as.
func (w *world) straight(method, path string) (int, string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.http.URL+path, strings.NewReader("owned"))
	if err != nil {
		w.Fatal(err)
	}
	c := *w.http.Client()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := c.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// What a session holds has limits, for uploads as for its agent.
func TestAFolderHasLimits(t *testing.T) {
	w := spaced(t, "write")
	id := w.maker()
	w.put(507, id, "large", strings.Repeat("x", 1<<20+1))
	if got := w.list(id); len(got) != 0 {
		t.Errorf("what was too large has left %q", got)
	}
	w.put(201, id, "large", strings.Repeat("x", 1<<20))
	w.put(507, id, "more", "x")
	if o := w.say(id, `write {"file_path":"more","content":"x"}`); !strings.Contains(o.Text, "there is no more room") {
		t.Errorf("write: %+v", o)
	}
	w.put(200, id, "large", "")
	for i := range 49 {
		w.put(201, id, "f"+string(rune('a'+i%25))+string(rune('a'+i/25)), "")
	}
	w.put(507, id, "one-more", "")
}

// Commands of an agent see its folder, and no other one.
func TestAnAgentWithCommands(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("commands are confined on Linux")
	}
	w := spaced(t, "bash")
	id, other := w.maker(), w.maker()
	w.put(201, other, "secret", "of somebody else")
	t.Setenv("DECANT_TEST_TOKEN", "a-token")
	for name, line := range map[string]string{
		"siblings": "cat ../../*/files/secret " + w.spaces.Dir + "/*/*/files/secret", "link": "ln -s " + w.folders()[0] + "/files/secret l; cat l",
		"hard link": "ln " + w.folders()[0] + "/files/secret h; cat h", "database": "head -c 6 " + w.path, "environment": "env; cat /proc/*/environ",
		"network": "exec 3<>/dev/tcp/" + strings.TrimPrefix(w.http.URL, "http://127.0.0.1:") + " && echo connected",
	} {
		o := w.say(id, "bash "+object(map[string]string{"command": line}))
		for _, bad := range []string{"of somebody else", "a-token", "SQLite", "connected"} {
			if o.Stop != "answered" || strings.Contains(o.Text, bad) {
				t.Errorf("%s: %+v", name, o)
			}
		}
	}
	if o := w.say(id, `bash {"command":"echo made >made; mkfifo pipe; truncate -s 100G sparse; ls"}`); !strings.Contains(o.Text, "made") {
		t.Errorf("%+v", o)
	}
	if text, _ := w.file(id, "made"); text != "made\n" {
		t.Errorf("made holds %q", text)
	}
	if _, res := w.file(id, "pipe"); res.StatusCode != 400 {
		t.Errorf("a pipe: %d", res.StatusCode)
	}
	if _, res := w.file(id, "l"); res.StatusCode != 400 {
		t.Errorf("a link: %d", res.StatusCode)
	}
}

// A fork has a copy, a removed session leaves nothing, and what is left over is removed by the next start.
func TestFilesGoWithTheirSession(t *testing.T) {
	w := spaced(t)
	id := w.maker()
	w.put(201, id, "a", "of the first")
	fork := get[summary](w, 201, httpCall{method: "POST", path: "/v1/sessions/" + id + "/fork"}).ID
	w.put(200, id, "a", "changed")
	if text, _ := w.file(fork, "a"); text != "of the first" || len(w.folders()) != 2 {
		t.Errorf("the fork has %q, folders %q", text, w.folders())
	}
	get[any](w, 204, httpCall{method: "DELETE", path: "/v1/sessions/" + id})
	testkit.Eventually(t, "the folder is gone", func() bool { return len(w.folders()) == 1 })
	if text, _ := w.file(fork, "a"); text != "of the first" {
		t.Errorf("the fork has %q", text)
	}
	w.close()
	parent := filepath.Dir(w.folders()[0])
	stranger := filepath.Join(w.spaces.Dir, "of-another-program")
	for _, dir := range []string{filepath.Join(parent, "LEFT", "files", "locked"), filepath.Join(parent, "LEFT-copy"), stranger} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(parent, "LEFT", "files", "locked"), 0); err != nil {
		t.Fatal(err)
	}
	w.begin()
	w.goOn()
	if got := w.folders(); len(got) != 1 {
		t.Errorf("folders: %q", got)
	}
	if _, err := os.Stat(stranger); err != nil {
		t.Error(err)
	}
	if text, _ := w.file(fork, "a"); text != "of the first" {
		t.Errorf("the fork has %q", text)
	}
}
