//go:build !unix

package testkit

import "os/exec"

// demote does nothing: there is no root to be refused.
func demote(string, ...*exec.Cmd) error { return nil }
