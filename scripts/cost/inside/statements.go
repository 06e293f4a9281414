package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// statements returns all SQL statements that the Go code of a folder makes of strings. Where a statement is put together, a
// part may have several values, which all are tried; one that cannot be known leaves a hole.
func statements(folder string) ([]string, error) {
	p := &code{values: map[string]ast.Expr{}, funcs: map[string]*ast.FuncDecl{}, calls: map[string][]call{}}
	files, err := p.parse(folder)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			in, _ := d.(*ast.FuncDecl)
			ast.Inspect(d, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok || !isText(e) {
					return true
				}
				for _, s := range p.texts(e, in, 0) {
					found[s] = found[s] || verb.MatchString(s)
				}
				return false
			})
		}
	}
	var out []string
	for s, statement := range found {
		if statement {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out, nil
}

var verb = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH)\s`)

// isText reports whether an expression is a string, or strings put together.
func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (isText(e.X) || isText(e.Y))
	}
	return false
}

// What cannot be known stands between these.
const holeBegins, holeEnds = "«", "»"

// code is the source of a package: what its names stand for.
type code struct {
	values map[string]ast.Expr // of the package's constants and variables
	funcs  map[string]*ast.FuncDecl
	calls  map[string][]call // by the name of what is called
}

type call struct {
	*ast.CallExpr
	in *ast.FuncDecl
}

// parse reads the files of a folder, tests left out.
func (p *code) parse(folder string) (files []*ast.File, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err == nil && len(names) == 0 {
		err = errors.New(folder + " has no Go files; run it in the folder of the module")
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		for _, d := range f.Decls {
			p.declare(d)
		}
	}
	return files, err
}

// declare notes what a declaration names, and who calls what in it.
func (p *code) declare(d ast.Decl) {
	if g, ok := d.(*ast.GenDecl); ok {
		for _, s := range g.Specs {
			v, _ := s.(*ast.ValueSpec)
			for i := 0; v != nil && i < len(v.Values); i++ {
				p.values[v.Names[i].Name] = v.Values[i]
			}
		}
		return
	}
	f := d.(*ast.FuncDecl)
	p.funcs[f.Name.Name] = f
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			p.calls[called(c)] = append(p.calls[called(c)], call{c, f})
		}
		return true
	})
}

// called is the name of what is called, without its package or receiver.
func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// deepest is how many names lead to others before one is a hole.
const deepest = 8

// texts returns the values that an expression in a function may have.
func (p *code) texts(e ast.Expr, in *ast.FuncDecl, depth int) []string {
	if depth++; depth < deepest {
		switch e := e.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(e.Value); err == nil {
				return []string{s}
			}
		case *ast.ParenExpr:
			return p.texts(e.X, in, depth)
		case *ast.BinaryExpr:
			return joined(p.texts(e.X, in, depth-1), p.texts(e.Y, in, depth-1), "")
		case *ast.Ident:
			if out := p.named(e.Name, in, depth); len(out) > 0 {
				return out
			}
		case *ast.SelectorExpr:
			if ast.IsExported(e.Sel.Name) {
				return []string{e.Sel.Name} // a value of another package, which says nothing about tables
			}
		case *ast.CallExpr:
			if out := p.result(e, 0, in, depth); len(out) > 0 {
				return out
			}
		}
	}
	return []string{holeBegins + types.ExprString(e) + holeEnds}
}

// joined puts each of some values before each of others.
func joined(before, after []string, between string) (out []string) {
	for _, b := range before {
		for _, a := range after {
			out = append(out, b+between+a)
		}
	}
	return out
}

// named returns the values of a name: of a variable or parameter of the function, or of the package.
func (p *code) named(name string, in *ast.FuncDecl, depth int) (out []string) {
	if in == nil {
		return p.ofPackage(name, depth)
	}
	ast.Inspect(in.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok && id.Name == name {
					out = append(out, p.assigned(n, i, out, in, depth)...)
				}
			}
		case *ast.RangeStmt:
			if id, ok := n.Value.(*ast.Ident); ok && id.Name == name {
				out = append(out, p.elements(n.X, in, depth)...)
			}
		}
		return true
	})
	position := 0
	for _, f := range in.Type.Params.List {
		for _, id := range f.Names {
			for _, c := range p.calls[in.Name.Name] {
				if id.Name == name && position < len(c.Args) {
					out = append(out, p.texts(c.Args[position], c.in, depth)...)
				}
			}
			position++
		}
	}
	if len(out) == 0 {
		out = p.ofPackage(name, depth)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (p *code) ofPackage(name string, depth int) []string {
	if v, ok := p.values[name]; ok && isText(v) {
		return p.texts(v, nil, depth)
	}
	return nil
}

// assigned returns what an assignment makes of its i-th name, which had some values before.
func (p *code) assigned(a *ast.AssignStmt, i int, before []string, in *ast.FuncDecl, depth int) []string {
	if len(a.Rhs) == 1 && len(a.Lhs) > 1 {
		c, ok := a.Rhs[0].(*ast.CallExpr)
		if !ok {
			return nil
		}
		return p.result(c, i, in, depth)
	}
	rhs := a.Rhs[i]
	if a.Tok == token.ADD_ASSIGN {
		return joined(before, p.texts(rhs, in, depth), "")
	}
	if sum, ok := rhs.(*ast.BinaryExpr); ok { // name = name + more
		if id, ok := sum.X.(*ast.Ident); ok && id.Name == a.Lhs[i].(*ast.Ident).Name {
			return joined(before, p.texts(sum.Y, in, depth), "")
		}
	}
	return p.texts(rhs, in, depth)
}

// elements returns the strings of a list.
func (p *code) elements(e ast.Expr, in *ast.FuncDecl, depth int) (out []string) {
	if id, ok := e.(*ast.Ident); ok && p.values[id.Name] != nil {
		e = p.values[id.Name]
	}
	list, ok := e.(*ast.CompositeLit)
	for i := 0; ok && i < len(list.Elts); i++ {
		if isText(list.Elts[i]) {
			out = append(out, p.texts(list.Elts[i], in, depth)...)
		}
	}
	return out
}

// result returns the i-th result of a call.
func (p *code) result(c *ast.CallExpr, i int, in *ast.FuncDecl, depth int) (out []string) {
	switch name := types.ExprString(c.Fun); {
	case name == "strings.Repeat": // how often makes no difference to a plan
		return p.texts(c.Args[0], in, depth)
	case name == "strings.Join":
		if list, ok := c.Args[0].(*ast.CompositeLit); ok {
			out = p.texts(list.Elts[0], in, depth)
			for _, e := range list.Elts[1:] {
				out = joined(out, p.texts(e, in, depth), ", ")
			}
		}
		return out
	}
	f := p.funcs[called(c)]
	if f == nil || f.Body == nil {
		return nil
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && i < len(r.Results) {
			if _, name := r.Results[i].(*ast.Ident); name || isText(r.Results[i]) {
				out = append(out, p.texts(r.Results[i], f, depth)...)
			}
		}
		return true
	})
	return out
}
