// Package exit has the exit codes of the program, and the errors that a command ends with to choose one.
package exit

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/decantdev/decant"
)

// Exit codes.
const (
	Done         = iota
	Failed       // for any other reason
	BadUsage     // an impossible command line, or impossible settings
	BadInput     // input that cannot be read or understood
	MissedTarget // the result is not what was asked for
)

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

type targetError struct{ error }

// Usage returns err as an error of the command line or the settings.
func Usage(err error) error { return usageError{err} }

// Input returns err as an error of the input: it cannot be read or understood.
func Input(err error) error { return inputError{err} }

// Missed returns err as the reason why a target is not met.
func Missed(err error) error { return targetError{err} }

// A Status is an exit code of which everything was said: that of a command that ran for this one, for example.
type Status int

// Interrupted is the status after an interrupt.
const Interrupted = Status(128 + int(syscall.SIGINT))

// Error names the status.
func (e Status) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Code returns the exit code for an error.
func Code(err error) int {
	var status Status
	var irreducible *decant.IrreducibleError
	switch {
	case err == nil:
		return Done
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, new(usageError)):
		return BadUsage
	case errors.As(err, new(inputError)):
		return BadInput
	case errors.As(err, &irreducible), errors.Is(err, decant.ErrFixed), errors.As(err, new(targetError)):
		return MissedTarget
	}
	return Failed
}
