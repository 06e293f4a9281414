package main

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// way is what a reader does who follows a request through a package: the files that are opened, and how often one
// goes back to a file that was left before.
type way struct {
	files   []string
	returns int
}

// way walks from a method through the functions of the same package in the order in which they are called, each once,
// as a reader does who looks up what was not read yet.
func (h *house) way(p *pkg, typ, method string) (out way) {
	bodies := map[types.Object]*ast.FuncDecl{}
	var start types.Object
	for _, f := range p.files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			obj := p.info.Defs[fn.Name]
			bodies[obj] = fn
			if fn.Name.Name == method && strings.HasSuffix(full(obj), "."+typ+"."+method) {
				start = obj
			}
		}
	}
	seen := map[types.Object]bool{}
	last := ""
	visit := func(file string) {
		if file == last {
			return
		}
		if slices.Contains(out.files, file) {
			out.returns++
		} else {
			out.files = append(out.files, file)
		}
		last = file
	}
	var walk func(types.Object)
	walk = func(obj types.Object) {
		fn := bodies[obj]
		if fn == nil || seen[obj] {
			return
		}
		seen[obj] = true
		visit(h.file(fn.Pos()))
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				walk(p.info.Uses[id])
			}
			return true
		})
	}
	walk(start)
	return out
}
