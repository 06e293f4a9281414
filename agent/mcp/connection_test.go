package mcp

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server that cannot be started is tried again after a while.
func TestAServerThatCouldNotBeStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &connection{
			server: Server{Type: "stdio", Command: "/there/is/no/such/program"}, opts: &Options{StartWithin: time.Minute},
			client: sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil),
		}
		for range 3 {
			for i := range maxStarts + 1 {
				if _, err := c.live(t.Context()); err == nil || errors.Is(err, errEnded) != (i == maxStarts) {
					t.Errorf("start %d: %v", i, err)
				}
			}
			time.Sleep(aWhile + 1)
		}
	})
}
