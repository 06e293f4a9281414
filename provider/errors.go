package provider

import "errors"

// Conditions that callers branch on. Test with errors.Is.
var (
	// ErrRefused means that the provider would refuse the same request again.
	ErrRefused = errors.New("the provider refused the request")

	// ErrBroken means that an answer came and is of no use: it broke off, is too long, or is not in the form of the API. It
	// may have been paid for.
	ErrBroken = errors.New("the answer cannot be used")
)
