//go:build linux

package tools_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/decantdev/decant/agent/tools"
)

func init() { probe = trySockets }

// trySockets says which sockets can be made.
func trySockets() {
	for _, f := range []struct {
		name   string
		family int
	}{{"inet", unix.AF_INET}, {"inet6", unix.AF_INET6}, {"netlink", unix.AF_NETLINK}, {"unix", unix.AF_UNIX}, {"vsock", unix.AF_VSOCK}, {"packet", unix.AF_PACKET}} {
		_, err := unix.Socket(f.family, unix.SOCK_DGRAM, 0)
		fmt.Printf("%s:%t ", f.name, err != unix.EACCES)
	}
	_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	_, _, ring := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
	fmt.Printf("pair:%t ring:%t\n", err == nil, ring != unix.EACCES)
}

// Behind Landlock the only sockets are those of the network, if it is allowed, and pairs.
func TestSocketsBehindLandlock(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for network, want := range map[bool]string{
		false: "inet:false inet6:false netlink:false unix:false vsock:false packet:false pair:true ring:false\n",
		true:  "inet:true inet6:true netlink:true unix:false vsock:false packet:false pair:true ring:false\n",
	} {
		b := shellBench(t, "landlock", tools.Shell{Network: network})
		program := filepath.Join(b.dir, "probe")
		if err := exec.Command("/bin/cp", self, program).Run(); err != nil {
			t.Fatal(err)
		}
		if got := b.bash("./probe probe"); got != want {
			t.Errorf("with the network allowed %t: %q, want %q", network, got, want)
		}
	}
}
