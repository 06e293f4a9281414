//go:build !linux

package sqlite_test

import (
	"errors"

	"github.com/decantdev/decant/store"
)

const rival = "rival"

func compete(store.Store, string, int) error { return errors.New("only on Linux") }
