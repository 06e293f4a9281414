//go:build !linux

package sqlite_test

import (
	"errors"

	"github.com/decantdev/decant/store/sqlite"
)

const rival = "rival"

func compete(*sqlite.DB, string, int) error { return errors.New("only on Linux") }
