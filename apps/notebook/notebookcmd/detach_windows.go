package notebookcmd

import (
	"os/exec"
	"syscall"
)

// detach lets a command outlive this process and what ends with it.
func detach(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}
