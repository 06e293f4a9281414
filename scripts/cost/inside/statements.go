package main

import (
	"errors"
	"fmt"
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
func statements(folder string) (out []string, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err == nil && len(names) == 0 {
		err = errors.New(folder + " has no Go files; run it in the folder of the module")
	}
	c := code{bound: map[string][]value{}, partly: map[string][]string{}}
	var texts []value
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			texts = append(texts, c.read(d)...)
		}
	}
	for _, t := range texts {
		for _, s := range c.texts(t.expr, t.in) {
			if verb.MatchString(s) && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out, err
}

var verb = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH)\s`)

// What cannot be known stands between these.
const holeBegins, holeEnds = "«", "»"

// code knows what every name of a package is ever given: a variable by assignments and loops, a parameter by calls, a
// function by what it returns. Names of a function have that of the function before a dot, and its results a number.
type code struct {
	bound  map[string][]value
	partly map[string][]string // values of names that are being looked for
}

// A value is an expression in a function, or the name of another one's result.
type value struct {
	expr   ast.Expr
	in     string
	result string
}

func (c *code) bind(name string, v value) { c.bound[name] = append(c.bound[name], v) }

// read notes what a declaration gives to names. It returns the strings in it.
func (c *code) read(d ast.Decl) (texts []value) {
	in, results := "", []field(nil)
	if f, ok := d.(*ast.FuncDecl); ok {
		in, results = f.Name.Name, fields(f.Type.Results)
		for i, p := range fields(f.Type.Params) {
			if p.text {
				c.bind(in+"."+p.name, value{result: fmt.Sprint(in, "<", i)})
			}
		}
	}
	within := ast.Node(nil) // a string that is looked at already
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, v := range n.Values {
				c.bind(in+"."+n.Names[i].Name, value{expr: v, in: in})
			}
		case *ast.AssignStmt:
			c.assign(n, in)
		case *ast.RangeStmt:
			if name, ok := n.Value.(*ast.Ident); ok {
				c.bind(in+"."+name.Name, value{expr: n.X, in: in})
			}
		case *ast.CallExpr:
			for i, a := range n.Args {
				c.bind(fmt.Sprint(called(n), "<", i), value{expr: a, in: in})
			}
		case *ast.ReturnStmt:
			for i, r := range n.Results {
				if i < len(results) && results[i].text {
					c.bind(fmt.Sprint(in, ">", i), value{expr: r, in: in})
				}
			}
		}
		if e, ok := n.(ast.Expr); ok && isText(e) && (within == nil || e.Pos() >= within.End()) {
			within, texts = e, append(texts, value{expr: e, in: in})
		}
		return true
	})
	return texts
}

// A field is a parameter or a result. text reports whether it may be a string or hold some. Nobody follows the others:
// errors come from everywhere, and the ways that they may have come are more than can be walked.
type field struct {
	name string
	text bool
}

func fields(list *ast.FieldList) (out []field) {
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		text := strings.Contains(types.ExprString(f.Type), "string") || strings.HasSuffix(types.ExprString(f.Type), "any")
		for _, name := range f.Names {
			out = append(out, field{name.Name, text})
		}
		if len(f.Names) == 0 {
			out = append(out, field{"", text})
		}
	}
	return out
}

// assign notes what an assignment gives to its names.
func (c *code) assign(a *ast.AssignStmt, in string) {
	for i, l := range a.Lhs {
		name, ok := l.(*ast.Ident)
		if !ok {
			continue
		}
		v := value{expr: a.Rhs[min(i, len(a.Rhs)-1)], in: in}
		if call, ok := v.expr.(*ast.CallExpr); ok && len(a.Rhs) < len(a.Lhs) {
			v = value{result: fmt.Sprint(called(call), ">", i)}
		} else if a.Tok == token.ADD_ASSIGN {
			v.expr = &ast.BinaryExpr{X: name, Op: token.ADD, Y: v.expr}
		}
		c.bind(in+"."+name.Name, v)
	}
}

// called is the name of what is called, without its package or receiver.
func called(c *ast.CallExpr) string {
	name := types.ExprString(c.Fun)
	return name[strings.LastIndex(name, ".")+1:]
}

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

// texts returns the strings that an expression may be; none if that cannot be known.
func (c *code) texts(e ast.Expr, in string) (out []string) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			out = []string{s}
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			out = joined(c.orHole(e.X, in), "", c.orHole(e.Y, in))
		}
	case *ast.Ident:
		if out = c.named(in + "." + e.Name); out == nil {
			out = c.named("." + e.Name)
		}
	case *ast.SelectorExpr:
		if ast.IsExported(e.Sel.Name) { // a value of another package, which says nothing about tables
			out = []string{e.Sel.Name}
		}
	case *ast.CompositeLit: // a list, over which a loop goes
		for _, element := range e.Elts {
			out = append(out, c.texts(element, in)...)
		}
	case *ast.CallExpr:
		out = c.result(e, in)
	}
	return out
}

func (c *code) orHole(e ast.Expr, in string) []string {
	if out := c.texts(e, in); out != nil {
		return out
	}
	return []string{holeBegins + types.ExprString(e) + holeEnds}
}

// joined puts each of some strings before each of others.
func joined(before []string, between string, after []string) (out []string) {
	for _, b := range before {
		for _, a := range after {
			out = append(out, b+between+a)
		}
	}
	return out
}

// named returns the strings that are given to a name. One that is made longer has, meanwhile, those before that.
func (c *code) named(name string) []string {
	if before, busy := c.partly[name]; busy {
		return before
	}
	defer delete(c.partly, name)
	c.partly[name] = nil
	for _, v := range c.bound[name] {
		some := c.texts(v.expr, v.in)
		if v.result != "" {
			some = c.named(v.result)
		}
		for _, s := range some {
			if !slices.Contains(c.partly[name], s) {
				c.partly[name] = append(c.partly[name], s)
			}
		}
	}
	return c.partly[name]
}

// result returns what a call may return.
func (c *code) result(e *ast.CallExpr, in string) (out []string) {
	switch types.ExprString(e.Fun) {
	case "strings.Repeat": // how often makes no difference to a plan
		return c.texts(e.Args[0], in)
	case "strings.Join":
		parts, ok := e.Args[0].(*ast.CompositeLit)
		for i := 0; ok && i < len(parts.Elts); i++ {
			if next := c.orHole(parts.Elts[i], in); i == 0 {
				out = next
			} else {
				out = joined(out, ", ", next)
			}
		}
		return out
	}
	return c.named(called(e) + ">0")
}
