//go:build unix

package testkit

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// demote has commands run as another user, who owns the folder: postgres, or nobody.
func demote(folder string, cmds ...*exec.Cmd) error {
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return err
	}
	for _, cmd := range cmds {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	return os.Chown(folder, uid, gid)
}
