package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// A pkg is a package of the module with what the type checker knows of its files, tests left out.
type pkg struct {
	path      string
	name      string // directory within the module
	files     []*ast.File
	types     *types.Package
	info      *types.Info
	examples  map[*ast.Ident]types.Object // what the package's examples use, which stand outside of it
	templates map[string]bool             // names that its templates have, which reach exported methods and fields alone
}

// A house is all packages of a module.
type house struct {
	module string
	fset   *token.FileSet
	pkgs   []*pkg
}

// listed is what `go list` says of a package.
type listed struct {
	Dir, ImportPath, Name, Export string
	GoFiles, XTestGoFiles         []string
	Module                        *struct{ Path, Dir string }
}

// load type-checks the packages of the module in a directory. Imports are read from what the compiler has written, so
// that it takes seconds.
func load(dir string) (*house, error) {
	all, err := list(dir)
	if err != nil {
		return nil, err
	}
	h := &house{fset: token.NewFileSet()}
	exports := map[string]string{}
	for _, l := range all {
		exports[l.ImportPath] = l.Export
	}
	imports := importer.ForCompiler(h.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		if l.Module == nil || l.Module.Dir != root {
			continue
		}
		h.module = l.Module.Path
		p, err := h.check(l, imports)
		if err == nil {
			p.examples, err = h.examples(l, imports)
		}
		if err == nil {
			p.templates, err = templates(l.Dir)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.ImportPath, err)
		}
		h.pkgs = append(h.pkgs, p)
	}
	if len(h.pkgs) == 0 {
		return nil, errors.New("no packages: it must run in the module's own directory")
	}
	return h, nil
}

// list returns the module's packages and all that they import.
func list(dir string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=Dir,ImportPath,Name,Export,GoFiles,XTestGoFiles,Module", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := dec.Decode(&l); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, l)
	}
}

// check parses and type-checks one package.
func (h *house) check(l listed, imports types.Importer) (*pkg, error) {
	p := &pkg{path: l.ImportPath, name: strings.TrimPrefix(strings.TrimPrefix(l.ImportPath, h.module), "/")}
	if p.name == "" {
		p.name = "."
	}
	var err error
	if p.files, err = h.parse(l.Dir, l.GoFiles); err != nil {
		return nil, err
	}
	p.info = &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	p.types, err = (&types.Config{Importer: imports}).Check(l.ImportPath, h.fset, p.files, p.info)
	return p, err
}

func (h *house) parse(dir string, names []string) (files []*ast.File, err error) {
	for _, name := range names {
		f, err := parser.ParseFile(h.fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// examples returns what the example files of a package use. Packages that only tests import are not known here, and
// what has to do with them is left out.
func (h *house) examples(l listed, imports types.Importer) (map[*ast.Ident]types.Object, error) {
	files, err := h.parse(l.Dir, l.XTestGoFiles)
	if err != nil {
		return nil, err
	}
	uses := map[*ast.Ident]types.Object{}
	lenient := &types.Config{Importer: imports, Error: func(error) {}}
	lenient.Check(l.ImportPath+"_test", h.fset, files, &types.Info{Uses: uses})
	maps.DeleteFunc(uses, func(id *ast.Ident, _ types.Object) bool { return !strings.HasPrefix(h.file(id.Pos()), "example") })
	return uses, nil
}

var templateName = regexp.MustCompile(`\.([A-Z]\w*)`)

// templates returns the names that the templates beside a package use.
func templates(dir string) (map[string]bool, error) {
	pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		for _, m := range templateName.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
	}
	return names, nil
}

// file returns the name of the file in which something stands.
func (h *house) file(pos token.Pos) string { return filepath.Base(h.fset.Position(pos).Filename) }
