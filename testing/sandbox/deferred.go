package sandbox

// Tools whose definition says defer_loading are not part of the prompt. A result that refers to one, by
// a block tool_reference, brings its definition in where it stands; without any such result in the
// prompt the model does not know the tool.

// checkReferences refuses a reference to a tool that the request does not define, and tools of which the
// model would know none.
func (q *request) checkReferences() *apiError {
	for _, t := range q.turns {
		for _, b := range t.blocks {
			for _, name := range references(b.node) {
				if !q.offers(name) {
					return invalid("%s: Tool reference '%s' not found in available tools", b.path, name)
				}
			}
		}
	}
	for _, t := range q.tools {
		if !t.is("defer_loading") {
			return nil
		}
	}
	if len(q.tools) > 0 {
		return invalid("tools: At least one tool must have defer_loading=false.")
	}
	return nil
}

// references returns the names of the tools that a result refers to.
func references(b *node) (out []string) {
	if b.str("type") != "tool_result" {
		return nil
	}
	for _, inner := range b.get("content").list() {
		if inner.str("type") == "tool_reference" {
			out = append(out, inner.str("tool_name"))
		}
	}
	return out
}

// available returns the names of the tools that the model knows.
func (q *request) available(e *edited) (out []string) {
	loaded := map[string]bool{}
	for _, t := range q.turns {
		for _, b := range t.blocks {
			if n := e.shown(b.node); n != nil {
				for _, name := range references(n) {
					loaded[name] = true
				}
			}
		}
	}
	for _, t := range q.tools {
		if name := t.str("name"); !t.is("defer_loading") || loaded[name] {
			out = append(out, name)
		}
	}
	return out
}

// loads returns the definitions that a block brings in.
func (q *request) loads(b *node) (out []*node) {
	for _, name := range references(b) {
		for _, t := range q.tools {
			if t.str("name") == name && t.is("defer_loading") {
				out = append(out, t)
			}
		}
	}
	return out
}
