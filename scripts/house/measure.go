package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// widest returns the type of a package with the most methods and the struct with the most fields. The fields of an
// embedded struct of the same package count with it.
func (p *pkg) widest() (methods, fields int, most, broad string) {
	scope := p.types.Scope()
	for _, name := range scope.Names() {
		t, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || t.IsAlias() {
			continue
		}
		named, ok := t.Type().(*types.Named)
		if !ok {
			continue
		}
		if n := named.NumMethods(); n > methods {
			methods, most = n, name
		}
		if s, ok := named.Underlying().(*types.Struct); ok {
			if n := width(p.types, s); n > fields {
				fields, broad = n, name
			}
		}
	}
	return methods, fields, most, broad
}

func width(in *types.Package, s *types.Struct) (n int) {
	for i := range s.NumFields() {
		f := s.Field(i)
		t := f.Type()
		if ptr, ok := t.(*types.Pointer); ok {
			t = ptr.Elem()
		}
		named, ok := t.(*types.Named)
		if inner, isStruct := t.Underlying().(*types.Struct); f.Embedded() && ok && isStruct && named.Obj().Pkg() == in {
			n += width(in, inner)
			continue
		}
		n++
	}
	return n
}

// functions is what is counted of the functions of a house.
type functions struct {
	lengths  []int  // lines of each, sorted
	longest  string // where the longest is
	comments int    // inside of their bodies
}

func (h *house) functions() (out functions) {
	most := 0
	for _, p := range h.pkgs {
		for _, f := range p.files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				n := h.line(fn.End()) - h.line(fn.Pos()) + 1
				out.lengths = append(out.lengths, n)
				if n > most {
					most, out.longest = n, p.name+"."+fn.Name.Name
				}
				for _, c := range f.Comments {
					if c.Pos() > fn.Body.Pos() && c.End() < fn.Body.End() {
						out.comments++
					}
				}
			}
		}
	}
	slices.Sort(out.lengths)
	return out
}

func (h *house) line(pos token.Pos) int { return h.fset.Position(pos).Line }

// unused returns the exported names, methods included, that no other package's code uses, nor an example: of packages
// that everybody may import, and of those under internal, where nobody else can need them. Commands and packages
// for tests are left out, and so are methods that an interface of the module or of a library may call by that name.
func (h *house) unused() (public, internal []string) {
	used, called := map[string]bool{}, map[string]bool{}
	for _, p := range h.pkgs {
		for _, obj := range p.info.Uses {
			if obj.Pkg() != p.types {
				use(used, obj)
			}
		}
		for _, obj := range p.examples {
			use(used, obj)
		}
		for _, obj := range p.info.Defs {
			if f, ok := obj.(*types.Func); ok && receiver(f) != nil && types.IsInterface(receiver(f)) {
				called[f.Name()] = true
			}
		}
	}
	sets := h.sets(used)
	for _, p := range h.pkgs {
		if p.types.Name() == "main" || strings.HasSuffix(p.name, "test") {
			continue
		}
		out := &public
		if strings.Contains("/"+p.name, "/internal/") {
			out = &internal
		}
		for _, obj := range p.info.Defs {
			if obj == nil || !obj.Exported() || used[full(obj)] || !counts(obj, called) || sets[set(obj)] || p.templates[obj.Name()] {
				continue
			}
			*out = append(*out, strings.TrimPrefix(strings.TrimPrefix(full(obj), h.module), "/"))
		}
	}
	slices.Sort(public)
	slices.Sort(internal)
	return public, internal
}

// sets returns the types whose constants others use: they stand in sets, and who has read what a kind is has met all
// of its kinds, whichever of them he names.
func (h *house) sets(used map[string]bool) map[string]bool {
	out := map[string]bool{"": false}
	for _, p := range h.pkgs {
		for _, obj := range p.info.Defs {
			if name := set(obj); name != "" && used[full(obj)] {
				out[name] = true
			}
		}
	}
	return out
}

// set names the type of the package that an object is a constant of, and is empty where it is none.
func set(obj types.Object) string {
	c, ok := obj.(*types.Const)
	if !ok {
		return ""
	}
	named, ok := c.Type().(*types.Named)
	if !ok || named.Obj().Pkg() != c.Pkg() {
		return ""
	}
	return full(named.Obj())
}

// use notes that an object is used, and with it the types of its values: who reads a field has what is in it.
func use(used map[string]bool, obj types.Object) {
	if obj.Pkg() == nil {
		return
	}
	used[full(obj)] = true
	var mention func(types.Type)
	mention = func(t types.Type) {
		switch t := t.(type) {
		case *types.Named:
			if t.Obj().Pkg() != nil {
				used[full(t.Obj())] = true
			}
			for arg := range t.TypeArgs().Types() {
				mention(arg)
			}
		case *types.Map:
			mention(t.Key())
			mention(t.Elem())
		case interface{ Elem() types.Type }:
			mention(t.Elem())
		case *types.Tuple:
			for v := range t.Variables() {
				mention(v.Type())
			}
		case *types.Signature:
			if t.Recv() != nil {
				mention(t.Recv().Type())
			}
			mention(t.Params())
			mention(t.Results())
		}
	}
	mention(obj.Type())
}

// standard are methods that the standard library and that of YAML call by their names.
const standard = " UnmarshalYAML String Error Unwrap Is As MarshalText UnmarshalText MarshalJSON UnmarshalJSON LogValue Format GoString Close Write Read Len Less Swap Push Pop ServeHTTP RoundTrip "

// counts reports whether an object is a name of its package: declared at its top, or a method of a type that is.
func counts(obj types.Object, called map[string]bool) bool {
	f, ok := obj.(*types.Func)
	if !ok {
		return obj.Parent() == obj.Pkg().Scope()
	}
	recv := receiver(f)
	if recv == nil {
		return true
	}
	named, ok := recv.(*types.Named)
	return ok && named.Obj().Exported() && !called[f.Name()] && !strings.Contains(standard, " "+f.Name()+" ")
}

// receiver returns the type that a method belongs to, nil for a function.
func receiver(f *types.Func) types.Type {
	recv := f.Signature().Recv()
	if recv == nil {
		return nil
	}
	if p, ok := recv.Type().(*types.Pointer); ok {
		return p.Elem()
	}
	return recv.Type()
}

// full names an object as long as all packages that know it.
func full(obj types.Object) string {
	name := obj.Pkg().Path() + "."
	if f, ok := obj.(*types.Func); ok {
		if named, ok := receiver(f).(*types.Named); ok {
			name += named.Obj().Name() + "."
		}
	}
	return name + obj.Name()
}
