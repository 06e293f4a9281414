package config

import (
	"fmt"
	"io"
)

// A Secret is text that must not be printed. Whatever prints it prints "[redacted]".
type Secret string

const redacted = "[redacted]"

var _ fmt.Formatter = Secret("")

// Format implements fmt.Formatter for every verb, so that no verb reveals the text.
func (s Secret) Format(f fmt.State, _ rune) {
	io.WriteString(f, redacted) // as with every Formatter, the caller sees the write's error
}

// String returns "[redacted]".
func (s Secret) String() string { return redacted }

// MarshalText returns "[redacted]", for loggers and encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Reveal returns the text.
func (s Secret) Reveal() string { return string(s) }
