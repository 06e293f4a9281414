package doctor

import (
	"context"
	"time"

	"github.com/decantdev/decant/internal/config"
	"github.com/decantdev/decant/internal/modelhttp"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/token"
)

// A Setup is what is examined.
type Setup struct {
	Config   *config.Config
	File     string // with the settings; empty if there is none
	Outbound *modelhttp.Outbound
	CA       [][]byte            // that are trusted besides the system's
	Env      func(string) string // of the clients
	Now      func() time.Time
	Catalog  *token.Catalog // of models
	Database Database

	// Summary finds out whether the model of the settings that writes records can be asked, and returns its name.
	Summary func(context.Context) (model string, err error)
}

// A Database says where a store is, how to open it, and which conversations of it to count.
type Database struct {
	Path   string // as it is shown
	Server bool   // it is no file
	Key    string // name of the key that opens it; empty if it is not encrypted
	Err    error  // why it cannot be opened, if that is known before; the path may be empty then
	Open   func(context.Context) (Store, error)
	// Tenants returns whose conversations are counted. An error that is a Choice leaves them uncounted.
	Tenants func(context.Context, store.Directory) ([]string, error)
}

// A Store is what this package needs of an open store.
type Store interface {
	store.Keyring
	store.Directory
	store.Searcher
	store.Log
	Close() error
}

// A Choice is an error that says that the user has to choose. Nothing is broken.
type Choice struct{ Err error }

// Error implements error.
func (c Choice) Error() string { return c.Err.Error() }
