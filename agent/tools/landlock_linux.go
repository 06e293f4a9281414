//go:build linux && (amd64 || arm64)

package tools

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/go-json-experiment/json"
	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Names under which the program starts itself again around a command. No program is called so.
const (
	asSupervisor = "decant-supervisor"
	asConfined   = "decant-confined"
)

// hooked says that the program begins with MainIfConfined.
var hooked bool

// MainIfConfined must be called first in main. Commands are confined by Landlock in a process that the program starts from its own
// file, and in that process MainIfConfined does not return. Without it commands are confined by bubblewrap or not at all.
func MainIfConfined() {
	hooked = true
	if len(os.Args) < 2 || os.Args[0] != asSupervisor && os.Args[0] != asConfined {
		return
	}
	if os.Args[0] == asSupervisor {
		os.Exit(supervise(os.Args[1:]))
	}
	err := confine(os.Args[1:])
	fmt.Fprintln(os.Stderr, "decant: the command was not run, because it could not be confined:", err)
	os.Exit(126)
}

// leastABI is the first version of Landlock that knows of files being cut.
const leastABI = 3

// landlocked returns walls made by Landlock, where the kernel has it and the program can start itself.
func landlocked(p *plan) walls {
	if abi, err := llsys.LandlockGetABIVersion(); !hooked || err != nil || abi < leastABI {
		return walls{}
	}
	for _, h := range p.Hide { // Landlock adds up what is allowed: it cannot hide what lies in a folder that may be written to
		for _, w := range append([]string{p.Dir, p.Temp}, p.Write...) {
			if _, err := os.Lstat(h); err == nil && below(h, w) {
				return walls{}
			}
		}
	}
	return supervised(walls{kind: "landlock", wrap: bare}, *p)
}

// watched returns walls with a supervisor of ours around them, where the program can start itself: it sees to it that nothing is left.
func watched(w walls, p *plan) walls {
	if !hooked {
		return w
	}
	free := *p
	free.Free = true
	return supervised(w, free)
}

// supervised returns walls in which a supervisor of ours runs what w runs, by a plan.
func supervised(w walls, p plan) walls {
	b, err := json.Marshal(p)
	if err != nil {
		panic("tools: a plan cannot be written: " + err.Error()) // it is made of strings
	}
	return walls{kind: w.kind, order: b, wrap: func(cwd string, argv []string) []string {
		return append([]string{asSupervisor}, w.wrap(cwd, argv)...)
	}}
}

// confine makes the plan that it reads from the pipe at 3 hold for this process for ever, and becomes the command. It returns only
// with an error.
func confine(argv []string) error {
	runtime.LockOSThread() // what holds for a thread must hold for the one that becomes the command
	syscall.CloseOnExec(3)
	var p plan
	if err := json.UnmarshalRead(os.NewFile(3, "plan"), &p); err != nil {
		return err
	}
	if err := restrict(&p); err != nil {
		return err
	}
	if err := filterSockets(p.Network); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return unix.Exec(argv[0], argv, os.Environ())
}

// restrict tells Landlock what may be read and written.
func restrict(p *plan) error {
	if abi, err := llsys.LandlockGetABIVersion(); err != nil || abi < leastABI {
		return errors.New("the kernel has no Landlock")
	}
	hide := append([]string{"/run", "/tmp", "/dev"}, p.Hide...)
	var files, dirs []string
	for _, name := range append(readable("/", hide), p.within(hide)...) {
		info, err := os.Lstat(name)
		switch {
		case err != nil:
		case info.IsDir():
			dirs = append(dirs, name)
		case info.Mode().IsRegular():
			files = append(files, name)
		}
	}
	devices := []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
	c := landlock.V6.BestEffort()
	var names []landlock.Rule
	if !p.Apart {
		names = append(names, landlock.PathAccess(llsys.AccessFSReadDir, "/"))
	}
	err := c.RestrictPaths(append(names,
		landlock.RODirs(dirs...).IgnoreIfMissing(), landlock.ROFiles(files...).IgnoreIfMissing(),
		landlock.RODirs("/run/current-system", "/run/systemd/resolve", "/dev/fd").IgnoreIfMissing(),
		landlock.RWFiles(devices...).IgnoreIfMissing(),
		landlock.RWDirs(append([]string{p.Dir, p.Temp}, p.Write...)...).WithRefer(),
	)...)
	if err != nil {
		return err
	}
	return c.RestrictScoped()
}

// within returns what is below the folders that are shown in hidden ones, but for what is hidden in them.
func (p *plan) within(hide []string) (out []string) {
	for _, r := range p.Read {
		out = append(out, readable(r, slices.DeleteFunc(slices.Clone(hide), func(h string) bool { return !below(h, r) || h == r }))...)
	}
	return out
}

// readable returns what is below a folder but for what is hidden, as few paths as possible.
func readable(dir string, hide []string) (out []string) {
	if slices.ContainsFunc(hide, func(h string) bool { return below(dir, h) }) {
		return nil
	}
	if !slices.ContainsFunc(hide, func(h string) bool { return below(h, dir) }) {
		return []string{dir}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() || e.Type().IsRegular() { // what a link leads to is readable by itself, or is hidden
			out = append(out, readable(filepath.Join(dir, e.Name()), hide)...)
		}
	}
	return out
}

// filterSockets lets a process make no sockets, which Landlock cannot forbid: neither those of the network, unless it is allowed, nor
// those by which services of the machine are asked to act. Pairs of sockets stay possible.
func filterSockets(network bool) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := socketFilter(network)
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return seccomp(&prog)
}

// dropCapabilities gives up what root may do beyond its own files: some of it leads around Landlock, such as to read the environment
// of other processes.
func dropCapabilities() error {
	for c := uintptr(0); c <= 63; c++ {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // who may not drop it does not have it
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}
