package main

import (
	"go/types"
	"slices"
)

// circle returns the largest set of files of a package of which each reaches each other by what it uses: fields,
// methods, functions, types, constants and variables that another file declares.
func (h *house) circle(p *pkg) []string {
	uses := map[string]map[string]bool{}
	for _, f := range p.files {
		uses[h.file(f.Pos())] = map[string]bool{}
	}
	for id, obj := range p.info.Uses {
		if obj.Pkg() != p.types || !obj.Pos().IsValid() {
			continue
		}
		if _, isPkg := obj.(*types.PkgName); isPkg {
			continue
		}
		if from, to := h.file(id.Pos()), h.file(obj.Pos()); from != to {
			uses[from][to] = true
		}
	}
	var largest []string
	for _, c := range components(uses) {
		if len(c) > max(1, len(largest)) {
			largest = c
		}
	}
	slices.Sort(largest)
	return largest
}

// components returns the strongly connected components of a graph (Tarjan, Depth-first search and linear graph
// algorithms, SIAM J. Comput. 1, 1972).
func components(g map[string]map[string]bool) (out [][]string) {
	index, low := map[string]int{}, map[string]int{}
	on := map[string]bool{}
	var stack []string
	var visit func(string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack, on[v] = append(stack, v), true
		for w := range g[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		at := slices.Index(stack, v)
		for _, w := range stack[at:] {
			on[w] = false
		}
		out = append(out, slices.Clone(stack[at:]))
		stack = stack[:at]
	}
	for v := range g {
		if index[v] == 0 {
			visit(v)
		}
	}
	return out
}
