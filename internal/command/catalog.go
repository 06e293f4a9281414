package command

import (
	"fmt"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/decantdev/decant/internal/exit"
	"github.com/decantdev/decant/internal/process"
	"github.com/decantdev/decant/token"
)

// CatalogFlag is the flag with which every command that counts tokens takes the user's models.
type CatalogFlag struct {
	Catalog string `placeholder:"FILE" env:"DECANT_CATALOG" help:"JSON file with models to add or replace (or DECANT_CATALOG)."`
}

// Models returns the catalogue.
func (f *CatalogFlag) Models(s *process.Process) (*token.Catalog, error) {
	c, err := token.Builtin()
	if err != nil || f.Catalog == "" {
		return c, err
	}
	src, err := os.ReadFile(s.Path(f.Catalog))
	if err != nil {
		return nil, exit.Input(err)
	}
	if c, err = c.Add(src); err != nil {
		return nil, exit.Input(fmt.Errorf("%s: %w", f.Catalog, err))
	}
	return c, nil
}

// WriteJSON writes v as indented JSON with a newline at its end.
func WriteJSON(w interface{ Write([]byte) (int, error) }, v any) error {
	// What a client has sent may not be UTF-8.
	err := json.MarshalWrite(w, v, jsontext.Multiline(true), jsontext.WithIndent("  "), json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err == nil {
		_, err = w.Write([]byte{'\n'})
	}
	return err
}
