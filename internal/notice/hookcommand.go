package notice

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// passed are the variables of the environment that a command gets. Others may hold keys.
var passed = []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT"}

// run runs a command with an event on its standard input. What it writes is discarded.
func run(ctx context.Context, command []string, event []byte) error {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin = bytes.NewReader(append(event, '\n'))
	c.Env = []string{}
	for _, name := range passed {
		if v, ok := os.LookupEnv(name); ok {
			c.Env = append(c.Env, name+"="+v)
		}
	}
	c.WaitDelay = time.Second // what it started may hold its pipes open
	err := c.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("run %s: it took too long", command[0])
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", command[0], err)
	}
	return nil
}
