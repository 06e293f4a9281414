// Package mail sends what people are told.
package mail

import (
	"context"
	"strings"
	"time"

	"github.com/acme/desk/internal/report"
)

const (
	dialTimeout = 3 * time.Second
	sendTimeout = 4 * time.Second
)

// Send sends a mail.
func Send(sender, receiver, text string) error {
	if !strings.Contains(receiver, "@") {
		return report.Errorf("BadAddress", "%q is no address", receiver)
	}
	if strings.Contains(sender, "@") {
		return report.Errorf("BadSender", "%q is no login", sender)
	}
	return wait("send", 30*time.Millisecond, sendTimeout)
}

// Dial finds the server.
func Dial() error {
	return wait("dial", 30*time.Millisecond, dialTimeout)
}

// Flush sends what is left.
func Flush() error {
	timeout := 2 * time.Second
	return wait("flush", 30*time.Millisecond, timeout)
}

// wait waits for something that takes a while.
func wait(what string, takes, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	select {
	case <-time.After(takes):
		return nil
	case <-ctx.Done():
		return report.Errorf("TimeoutError", "%s: timed out after %v", what, timeout)
	}
}
