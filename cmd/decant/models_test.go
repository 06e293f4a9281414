package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/decantdev/decant/apps/chat/chatcmd"
	"github.com/decantdev/decant/internal/summarize"
	"github.com/decantdev/decant/preset"
	"github.com/decantdev/decant/token"
)

// What Decant chooses by itself, and what people copy from its pages and examples, must live for 60 days after the facts of the
// catalogue were looked up. Whoever updates the catalogue learns here which of them must change.
func TestDefaultsDoNotRetire(t *testing.T) {
	catalog, err := token.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	lives := func(where, id string) {
		if m, _ := catalog.Lookup(id); m.Retirement(catalog.AsOf()) != "" {
			t.Errorf("%s: %s", where, m.Retirement(catalog.AsOf()))
		}
	}
	lives("the default of chat and triage", chatcmd.DefaultModel)
	lives("what a stand-in plays", playedModel)
	for _, maker := range []token.Provider{token.Anthropic, token.OpenAI, token.Google} {
		lives("the model that writes records", summarize.Cheapest(catalog, catalog.AsOf())(token.Model{Provider: maker}, ""))
	}
	for _, name := range preset.Names() {
		p, err := preset.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		lives("preset "+name, p.Summary.Model)
	}
	copied := copiedModels(t, catalog, "../..")
	if len(copied) < 8 {
		t.Errorf("only %d places name a model: are they still looked for where they are?", len(copied))
	}
	for where, id := range copied {
		lives(where, id)
	}
}

// copiedModels returns the models that examples, commands and settings name, by file and line.
func copiedModels(t *testing.T, catalog *token.Catalog, root string) map[string]string {
	t.Helper()
	word := regexp.MustCompile(`\b(claude|gpt|gemini)-[a-z0-9.-]+`)
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !copied(filepath.ToSlash(path)) {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(src), "\n") {
			if strings.HasSuffix(path, ".md") && !strings.HasPrefix(line, "    ") {
				continue // a sentence may name what was measured
			}
			for _, id := range word.FindAllString(line, -1) {
				if _, known := catalog.Lookup(id); known {
					out[filepath.Base(path)+":"+strconv.Itoa(i+1)] = id
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// copied reports whether people copy from a file: pages for users, examples, deployments, comments of packages and templates.
func copied(path string) bool {
	switch filepath.Ext(path) {
	case ".md":
		return !strings.Contains(path, "/reference/") && !strings.Contains(path, "testdata") && filepath.Base(path) != "CHANGELOG.md"
	case ".go":
		return !strings.HasSuffix(path, "_test.go") && (strings.Contains(path, "/examples/") || strings.HasSuffix(path, "/doc.go") || strings.HasSuffix(path, "triage/settings.go"))
	case ".yaml", ".yml", ".service":
		return strings.Contains(path, "/deploy/") || strings.Contains(path, "/preset/")
	}
	return false
}
