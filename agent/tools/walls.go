package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/decantdev/decant/internal/trust"
)

// A plan is what confined commands may do.
type plan struct {
	Dir     string   `json:"dir"`  // the project
	Temp    string   `json:"temp"` // their temporary folder
	Write   []string `json:"write,omitzero"`
	Read    []string `json:"read,omitzero"` // what is shown in hidden folders
	Hide    []string `json:"hide,omitzero"` // files and folders, links followed
	Network bool     `json:"network,omitzero"`
	Apart   bool     `json:"apart,omitzero"` // nothing else of the machine can be seen but its programs
	Free    bool     `json:"free,omitzero"`  // nothing of this holds: commands are only watched over
}

// credentials are the files and folders below the home folder that hold what commands must not read.
var credentials = strings.Fields(`.ssh .aws .azure .gnupg .kube .docker .netrc .npmrc .pypirc .git-credentials .vault-token .password-store
	.config/gh .config/hub .config/gcloud .config/git/credentials .config/op .config/decant .config/google-chrome .config/chromium
	.cargo/credentials .cargo/credentials.toml .m2/settings.xml .gem/credentials .terraform.d .terraformrc .claude .claude.json .codex .gemini
	.bash_history .zsh_history .python_history .psql_history .mysql_history .mozilla .thunderbird .local/share/keyrings Library/Keychains
	.config/containers/auth.json .config/rclone .s3cfg .boto .pgpass .my.cnf`)

// newPlan returns what commands may do in a project.
func newPlan(dir, temp string, o Shell) (p plan, err error) {
	p = plan{Dir: dir, Network: o.Network}
	if p.Temp, err = filepath.EvalSymlinks(temp); err != nil {
		return p, err
	}
	if p.Write, err = places("Write", o.Write); err != nil {
		return p, err
	}
	if p.Read, err = places("Read", o.Read); err != nil {
		return p, err
	}
	hide := []string{"/etc/shadow", "/etc/gshadow", "/etc/sudoers.d", "/etc/ssh", "/var/run/secrets"}
	if home, err := os.UserHomeDir(); err == nil {
		for _, c := range credentials {
			hide = append(hide, filepath.Join(home, c))
		}
	}
	for _, h := range o.Hide {
		if !filepath.IsAbs(h) {
			return p, fmt.Errorf("tools: Shell.Hide: %s is not absolute", h)
		}
		hide = append(hide, h)
	}
	for _, h := range hide {
		if real, err := filepath.EvalSymlinks(h); err == nil {
			h = real
		}
		p.Hide = append(p.Hide, filepath.Clean(h)) // what does not exist may come later
	}
	if p.Apart = o.Apart; p.Apart {
		p.Read = append(p.Read, machine(p.Hide)...)
		p.Hide = append(p.Hide, notPrograms()...)
	}
	p.Hide = p.outermost()
	return p, nil
}

// places returns where folders of an option are, links followed.
func places(option string, names []string) (out []string, err error) {
	for _, name := range names {
		if !filepath.IsAbs(name) {
			return nil, fmt.Errorf("tools: Shell.%s: %s is not absolute", option, name)
		}
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return nil, fmt.Errorf("tools: Shell.%s: %w", option, err)
		}
		out = append(out, name)
	}
	return out, nil
}

// outermost returns what is hidden without what lies in hidden folders anyway. In a folder that is shown again in such a folder, it counts.
func (p *plan) outermost() (out []string) {
	for i, h := range p.Hide {
		covered := false
		for k, other := range p.Hide {
			if k != i && below(h, other) && (h != other || k < i) {
				shown := slices.ContainsFunc(p.shown(), func(w string) bool { return below(h, w) && below(w, other) })
				covered = covered || !shown
			}
		}
		if !covered {
			out = append(out, h)
		}
	}
	return out
}

// below reports whether a path is a folder or lies in it. Both are absolute and clean.
func below(name, dir string) bool {
	rest, ok := strings.CutPrefix(name, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
}

// A walls is what stands around commands: how they are started.
type walls struct {
	kind  string // empty: nothing stands around them
	wrap  func(cwd string, argv []string) []string
	order []byte // of a supervisor of ours between us and the command: a plan; nil: there is none
}

func (w walls) name() string { return w.kind }

// start starts a command that reads a text.
func (w walls) start(cwd string, argv, env []string, in string, out *os.File) (*process, error) {
	argv = w.wrap(cwd, argv)
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Dir: cwd, Env: env, Stdin: strings.NewReader(in), Stdout: out, Stderr: out}
	if w.order != nil {
		cmd.Path = "/proc/self/exe"
	}
	return start(cmd, w.order)
}

// findWalls finds out what can confine commands on this machine.
func findWalls(p *plan) walls {
	for _, w := range []walls{bubblewrap(p), landlocked(p)} {
		if w.kind != "" && works(w, p) == nil {
			return w
		}
	}
	return watched(walls{wrap: bare}, p)
}

// bare starts a command as it is.
func bare(_ string, argv []string) []string { return argv }

// works runs nothing within walls, to see whether they can be built.
func works(w walls, p *plan) error {
	r, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	shell, err := exec.LookPath("sh")
	if err == nil {
		var proc *process
		proc, err = w.start(p.Dir, []string{shell, "-c", `: >"$0/.works"`, p.Temp}, []string{"PATH=" + os.Getenv("PATH")}, "", out)
		if err == nil {
			if how := watch(context.Background(), 10*time.Second, proc, func() string { return "" }); how != "" {
				err = errors.New(how)
			}
		}
	}
	out.Close()
	return err
}

// bubblewrap returns walls made by bwrap, where it is installed.
func bubblewrap(p *plan) walls {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return walls{}
	}
	if path, err = filepath.Abs(path); err != nil {
		return walls{}
	}
	return watched(walls{kind: "bubblewrap", wrap: func(cwd string, argv []string) []string {
		return append(append([]string{path}, bwrapArgs(p, cwd)...), argv...)
	}}, p)
}

// bwrapArgs returns the arguments of bwrap: everything can be read and nothing written, but for what follows. What follows later
// stands over what came before.
func bwrapArgs(p *plan, cwd string) []string {
	userspace := "--unshare-user-try"
	if p.Apart {
		userspace = "--unshare-user"
	}
	args := []string{"--die-with-parent", "--new-session", userspace, "--unshare-pid", "--unshare-ipc", "--unshare-uts",
		"--unshare-cgroup-try", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run",
		"--ro-bind-try", "/run/current-system", "/run/current-system"}
	if p.Apart {
		args = append(args, "--tmpfs", "/tmp")
	} else {
		args = append(args, "--bind", filepath.Join(p.Temp, "tmp"), "/tmp", "--bind", filepath.Join(p.Temp, "shm"), "/dev/shm")
	}
	if p.Network {
		args = append(args, "--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve")
	} else {
		args = append(args, "--unshare-net")
	}
	args = append(args, hidden(p, p.holds)...)
	for _, r := range p.Read {
		args = append(args, "--ro-bind-try", r, r) // it may be gone by now, such as /etc/resolv.conf
	}
	for _, w := range p.written() {
		args = append(args, "--bind", w, w)
	}
	if !p.Apart { // else nobody works in the project
		args = append(args, guarded(p.Dir)...)
	}
	args = append(args, hidden(p, func(h string) bool { return !p.holds(h) })...)
	for _, at := range append([]string{"/run", "/dev"}, emptied(p)...) { // what is written there lies in memory, without a limit
		args = append(args, "--remount-ro", at)
	}
	if p.Apart {
		args = append(args, "--remount-ro", "/tmp")
	}
	return append(args, "--chdir", cwd, "--")
}

// emptied returns the folders in whose place an empty one stands.
func emptied(p *plan) (out []string) {
	args := hidden(p, func(string) bool { return true })
	for i, a := range args {
		if a == "--tmpfs" {
			out = append(out, args[i+1])
		}
	}
	return out
}

// holds reports whether something that is shown, whatever is hidden around it, lies in a folder.
func (p *plan) holds(dir string) bool {
	return slices.ContainsFunc(p.shown(), func(w string) bool { return below(w, dir) })
}

// written returns the folders that commands may write to.
func (p *plan) written() []string { return append([]string{p.Dir, p.Temp}, p.Write...) }

// shown returns the folders that commands see, whatever is hidden around them.
func (p *plan) shown() []string { return append(p.written(), p.Read...) }

// hidden returns the arguments of bwrap that hide some of what a plan hides.
func hidden(p *plan, which func(string) bool) (args []string) {
	for _, h := range p.Hide {
		info, err := os.Stat(h)
		bound := slices.ContainsFunc(p.shown(), func(w string) bool { return below(h, w) })
		switch {
		case !which(h):
		case err != nil || !bound && (below(h, "/tmp") || below(h, "/run")):
			continue // it is not there
		case info.IsDir():
			args = append(args, "--tmpfs", h)
		default:
			args = append(args, "--ro-bind", "/dev/null", h)
		}
	}
	return args
}

// programs are the folders at the top of a machine that hold what commands need to run.
var programs = map[string]bool{"bin": true, "sbin": true, "lib": true, "lib32": true, "lib64": true, "libx32": true, "usr": true, "nix": true, "gnu": true,
	"dev": true, "proc": true, "tmp": true, "run": true} // the last four are others within the walls

// notPrograms returns what is at the top of the machine and is no program's, and the settings of those that the machine's own users installed.
func notPrograms() (out []string) {
	out = []string{"/usr/local/etc"}
	entries, err := os.ReadDir("/")
	if err != nil {
		return out
	}
	for _, e := range entries {
		if !programs[e.Name()] && e.Type()&os.ModeSymlink == 0 {
			out = append(out, "/"+e.Name())
		}
	}
	return out
}

// guarded returns arguments of bwrap that keep what is run, or obeyed, outside of the walls as it is. A folder .git becomes a mount, so
// that it cannot be put aside and another one made in its place. In a work tree .git is a file that says where the folder is.
func guarded(dir string) (args []string) {
	for _, name := range slices.Concat(trust.Folders, trust.Files) {
		real, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		info, statErr := os.Lstat(real)
		switch {
		case err != nil || statErr != nil || !below(real, dir): // it is not there, or what lies outside is kept anyway
		case name == ".git" && info.IsDir() && !isEmpty(real):
			args = append(args, "--bind", real, real)
			for _, inner := range []string{"hooks", "config", "config.worktree", "commondir", "modules"} {
				args = append(args, "--ro-bind-try", filepath.Join(real, inner), filepath.Join(real, inner))
			}
		default:
			args = append(args, "--ro-bind", real, real)
		}
	}
	return args
}

func isEmpty(dir string) bool {
	names, err := os.ReadDir(dir)
	return err == nil && len(names) == 0
}
