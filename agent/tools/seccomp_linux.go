//go:build linux && (amd64 || arm64)

package tools

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Where a filter of system calls finds what it looks at (linux/seccomp.h, struct seccomp_data; both machines are little-endian).
const (
	atCall     = 0
	atMachine  = 4
	atArgument = 16
)

// foreign is where the numbers of another interface of the same machine begin (x32).
const foreign = 0x40000000

// seccomp sets a filter for the calling thread.
func seccomp(prog *unix.SockFprog) error {
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(prog)))
	runtime.KeepAlive(prog)
	if e != 0 {
		return e
	}
	return nil
}

// socketFilter returns a filter that refuses sockets; with network, all but those of the network. io_uring is refused because it makes
// sockets without a call.
func socketFilter(network bool) []unix.SockFilter {
	machine := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		machine = unix.AUDIT_ARCH_AARCH64
	}
	const load, equal, atLeast = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	stmt := func(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
	// A jump passes over so many lines when it is so, and over so many when it is not.
	jump := func(code uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no}
	}
	families := []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	if !network {
		families = []uint32{0xffffffff, 0xffffffff, 0xffffffff} // there are none
	}
	return []unix.SockFilter{
		stmt(load, atMachine),
		jump(equal, machine, 0, 9), // refuse
		stmt(load, atCall),
		jump(atLeast, foreign, 7, 0),               // refuse
		jump(equal, unix.SYS_IO_URING_SETUP, 6, 0), // refuse
		jump(equal, unix.SYS_SOCKET, 0, 4),         // allow
		stmt(load, atArgument),
		jump(equal, families[0], 2, 0), // allow
		jump(equal, families[1], 1, 0), // allow
		jump(equal, families[2], 0, 1), // allow, refuse
		stmt(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW),
		stmt(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(unix.EACCES)),
	}
}
