package chatserver

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/agent/permission"
	"github.com/decantdev/decant/agent/tools"
	"github.com/decantdev/decant/apps/chat/internal/workspace"
)

// Workspaces says whether agents may ask for a folder of files for each of their sessions.
type Workspaces struct {
	Dir   string       // where the folders lie; empty: there are none
	Shell bool         // they may ask for commands, too, which are confined
	Most  tools.Amount // that one session may hold; zero: what package workspace says
	Hide  []string     // files that commands must not read, absolute
}

// A space is what an agent does with files, as openapi.yaml describes it.
type space struct {
	Files bool     `json:"files,omitzero"`
	Shell bool     `json:"shell,omitzero"`
	Allow []string `json:"allow,omitzero"` // rules for calls that nobody is asked about
}

// UnmarshalJSON reads a workspace. What it does not know is an error: somebody may rely on it.
func (w *space) UnmarshalJSON(b []byte) error {
	type plain space
	return json.Unmarshal(b, (*plain)(w), json.RejectUnknownMembers(true))
}

// shellTool is the tool that a workspace has for its shell; all others are for its files.
const shellTool = "bash"

// folders are the workspaces of sessions.
type folders struct {
	opts    *Options
	records *records
	store   *workspace.Store // nil: the service has none
	claims  sync.Mutex       // held while a session gets its folder
}

// newFolders opens the folders of the service. Those of another database are not its own.
func newFolders(opts *Options, d *door) (*folders, error) {
	f, o := &folders{opts: opts, records: &records{opts}}, opts.Workspaces
	if o.Dir == "" {
		return f, nil
	}
	m := hmac.New(sha256.New, d.secret)
	m.Write([]byte("workspaces"))
	service := hex.EncodeToString(m.Sum(nil)[:8])
	var err error
	f.store, err = workspace.Open(workspace.Options{Dir: o.Dir, Service: service, Shell: o.Shell, Most: o.Most, Hide: o.Hide})
	return f, err
}

// check says what is wrong with the workspace of a configuration. others are the tools of the service.
func (f *folders) check(a *Agent, others map[string]agent.Tool) error {
	w := a.Workspace
	switch {
	case w == nil:
		return nil
	case f.store == nil:
		return errors.New("workspace: this service gives agents no files; whoever runs it can start it with --workspaces DIR")
	case w.Shell && !f.store.Shell():
		return errors.New("workspace.shell: this service lets agents run no commands; whoever runs it can start it with --workspace-shell")
	case !w.Files && !w.Shell:
		return errors.New("workspace: set files, shell or both to true")
	}
	for _, t := range f.toolsFor(w) {
		if _, taken := others[t.Name]; taken {
			return fmt.Errorf("workspace: the service has another tool %s", t.Name)
		}
	}
	_, err := w.rules(f.opts.Rules)
	return err
}

// rules returns what a workspace allows besides the rules of the service.
func (w *space) rules(out permission.Rules) (permission.Rules, error) {
	out.Allow = slices.Clip(out.Allow)
	for i, text := range w.Allow {
		r, err := permission.Parse(text)
		if err == nil {
			err = out.Add(agent.Allow, r)
		}
		if err != nil {
			return out, fmt.Errorf("workspace.allow[%d]: %w", i, err)
		}
	}
	return out, nil
}

// toolsFor returns the tools of a workspace as models are told of them.
func (f *folders) toolsFor(w *space) (out []agent.Tool) {
	for _, t := range f.store.Describe() {
		if is := t.Name == shellTool; is && w.Shell || !is && w.Files {
			out = append(out, t)
		}
	}
	return out
}

// A desk is where the agent of a session works with files. Its folder is made when the first call needs it.
type desk struct {
	folders *folders
	conf    *space
	session *agent.Session

	mu    sync.Mutex
	set   *tools.Set // nil: nothing has happened yet
	tools map[string]agent.Tool
	users int  // calls under way
	left  bool // the room is left: the last call closes the set
}

// deskFor returns the desk of a session of an agent; nil where it has none.
func (f *folders) deskFor(a *Agent) *desk {
	if a.Workspace == nil || f.store == nil {
		return nil
	}
	return &desk{folders: f, conf: a.Workspace}
}

// of says whose desk it is, before anything happens.
func (d *desk) of(session *agent.Session) *desk {
	if d != nil {
		d.session = session
	}
	return d
}

// equip gives an agent the tools of the desk.
func (d *desk) equip(o *agent.Options) error {
	if d == nil {
		return nil
	}
	for _, t := range d.folders.toolsFor(d.conf) {
		o.Tools = append(o.Tools, d.lent(t))
	}
	rules, err := d.conf.rules(d.folders.opts.Rules)
	o.Permit = func(ctx context.Context, t *agent.Tool, c *agent.Call) agent.Verdict {
		return d.permit(ctx, rules, t, c)
	}
	return err
}

// permit says what the rules of the agent say of a call. They name files from the folder.
func (d *desk) permit(ctx context.Context, rules permission.Rules, t *agent.Tool, c *agent.Call) agent.Verdict {
	var g *permission.Guard
	name, err := d.folders.folder(d.session)
	if err == nil {
		var dir string
		if dir, err = d.folders.store.Files(name); err == nil {
			g, err = permission.New(permission.Options{Dir: dir, Rules: rules})
		}
	}
	if err != nil {
		return agent.Verdict{Kind: agent.Deny, Reason: err.Error()}
	}
	return g.Permit(ctx, t, c)
}

// lent returns a tool that works in the folder of the desk.
func (d *desk) lent(t agent.Tool) agent.Tool {
	name, shows := t.Name, t.Preview != nil
	t.Run = func(ctx context.Context, c *agent.Call) (agent.Result, error) {
		real, err := d.enter(name)
		if err != nil {
			return agent.Result{}, err
		}
		defer d.exit()
		return real.Run(ctx, c)
	}
	if shows {
		t.Preview = func(ctx context.Context, c *agent.Call) (string, error) {
			real, err := d.enter(name)
			if err != nil {
				return "", err
			}
			defer d.exit()
			return real.Preview(ctx, c)
		}
	}
	return t
}

// enter returns a tool that works in the folder, which stays open until exit is called.
func (d *desk) enter(tool string) (t agent.Tool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.set == nil {
		name, err := d.folders.folder(d.session)
		if err != nil {
			return t, err
		}
		if d.set, err = d.folders.store.Tools(name, d.conf.Shell); err != nil {
			return t, err
		}
		d.tools = map[string]agent.Tool{}
		for _, t := range d.set.Tools() {
			d.tools[t.Name] = t
		}
	}
	d.users++
	return d.tools[tool], nil
}

// exit ends what enter began.
func (d *desk) exit() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users--
	d.clear()
}

// leave closes the desk when no call is under way any more.
func (d *desk) leave() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = true
	d.clear()
}

// clear closes what is no longer used. The desk is locked.
func (d *desk) clear() {
	if !d.left || d.users > 0 || d.set == nil {
		return
	}
	if err := d.set.Close(); err != nil {
		d.folders.opts.Logger.Error("the tools of a session cannot be closed", "error", err)
	}
	d.set = nil
}

// Labels by which a session names its folder. A fork has the labels of the session that it was made of until it has a folder of its own.
const (
	labelFolder     = "workspace"
	labelFolderOf   = "workspace_of"   // the session whose folder it is
	labelFolderFrom = "workspace_from" // of which it is to be a copy, which is not made yet
)

// folder returns the name of the folder of a session. One that has none gets one; a fork gets a copy. The name is written down first: whatever
// happens then, the folder is found again, by the session or by collect.
func (f *folders) folder(session *agent.Session) (string, error) {
	f.claims.Lock()
	defer f.claims.Unlock()
	name, from := session.Label(labelFolder), session.Label(labelFolderFrom)
	if name == "" || session.Label(labelFolderOf) != session.ID() {
		if from == "" || name == "" {
			from = name
		}
		name = workspace.NewName()
		if err := session.SetLabels(map[string]string{labelFolder: name, labelFolderOf: session.ID(), labelFolderFrom: from}); err != nil {
			return "", err
		}
	}
	if from == "" {
		return name, nil
	}
	if err := f.store.Copy(from, name); err != nil {
		return "", err
	}
	return name, session.SetLabels(map[string]string{labelFolderFrom: ""})
}

// withFiles gives a fork its copy of the files that the session has which it was made of.
func (f *folders) withFiles(fork *agent.Session) error {
	if f.store == nil || fork.Label(labelFolder) == "" {
		return nil
	}
	_, err := f.folder(fork)
	return err
}

// removeFiles removes the folder of a session that was removed. Where that fails, the next start does it.
func (f *folders) removeFiles(session *agent.Session) {
	name := session.Label(labelFolder)
	if f.store == nil || name == "" || session.Label(labelFolderOf) != session.ID() {
		return
	}
	if err := f.store.Remove(name); err != nil {
		f.opts.Logger.Error("the files of a removed session are still there: the next start removes them", "error", err)
	}
}

// collect removes the folders that no session of any tenant names. Sessions may begin meanwhile.
func (f *folders) collect(ctx context.Context) error {
	if f.store == nil {
		return nil
	}
	return f.store.Collect(func() (map[string]bool, error) {
		tenants, err := f.opts.Store.Tenants(ctx)
		if err != nil {
			return nil, err
		}
		used := map[string]bool{}
		for _, tenant := range tenants {
			js, err := f.records.journals(ctx, tenant, sessionKind, time.Time{})
			if err != nil {
				return nil, err
			}
			for i := range js {
				sum, err := summaryOf(&js[i])
				if err != nil {
					return nil, err
				}
				used[sum.Labels[labelFolder]], used[sum.Labels[labelFolderFrom]] = true, true
			}
		}
		return used, nil
	})
}
