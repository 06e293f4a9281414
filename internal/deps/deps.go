// Package deps keeps the module's planned dependencies in go.mod while they are not yet imported.
package deps

import (
	_ "github.com/alecthomas/kong"
	_ "github.com/anthropics/anthropic-sdk-go"
	_ "github.com/aymanbagabas/go-udiff"
	_ "github.com/clipperhouse/uax29/v2/words"
	_ "github.com/go-json-experiment/json"
	_ "github.com/goccy/go-yaml"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/pressly/goose/v3"
	_ "github.com/prometheus/client_golang/prometheus"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/tiktoken-go/tokenizer"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/term"
	_ "golang.org/x/tools/txtar"
	_ "modernc.org/sqlite"
	_ "pgregory.net/rapid"
)
