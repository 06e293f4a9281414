package main

import (
	"errors"

	"github.com/decantdev/decant"
)

// Exit codes.
const (
	exitDone = iota
	exitOther
	exitUsage
	exitInput
	exitTarget
)

// usageError is an impossible command line.
type usageError struct{ error }

// Unwrap returns what is impossible.
func (e usageError) Unwrap() error { return e.error }

// inputError is input that cannot be read or understood.
type inputError struct{ error }

// Unwrap returns what was wrong with the input.
func (e inputError) Unwrap() error { return e.error }

// targetError is a target that is not met.
type targetError struct{ error }

func exitCode(err error) int {
	var irreducible *decant.IrreducibleError
	switch {
	case errors.As(err, new(usageError)):
		return exitUsage
	case errors.As(err, new(inputError)):
		return exitInput
	case errors.As(err, &irreducible), errors.Is(err, decant.ErrFixed), errors.As(err, new(targetError)):
		return exitTarget
	}
	return exitOther
}
