package engine

import (
	"github.com/decantdev/decant/engine/internal/lineage"
	"github.com/decantdev/decant/engine/internal/prompt"
)

// An arrival is a request that has come, as it was read.
type arrival struct {
	e      *Engine
	req    *Request
	who    lineage.Start
	prompt *prompt.Prompt
}

// arrive returns the arrival of a request that was read. It has the session that its metadata names.
func (e *Engine) arrive(req *Request, r *prompt.Prompt) *arrival {
	if at := r.Doc.Member("metadata"); req.Session == "" && req.SessionIn != nil && !at.IsZero() {
		named := *req
		named.Session = req.SessionIn(at.Of(req.Body))
		req = &named
	}
	who := lineage.Start{Tenant: req.Tenant, Session: req.Session}
	if len(r.Spine) > 0 {
		who.First = r.Hash(0)
	}
	return &arrival{e, req, who, r}
}

// observed reports whether the request is only recorded and planned for.
func (a *arrival) observed() bool { return a.e.mode(a.req) == Observe }
