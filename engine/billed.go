package engine

import (
	"cmp"

	"github.com/decantdev/decant"
)

// Billed returns the usage for which an answer to the request is booked: what was reported. Of one that broke off
// the provider may not have said yet what it took, but it is paid all the same, and who cuts each answer short must
// not get it for nothing: then the prompt counts as it was estimated, and what has come of the answer is counted.
func (p *Prepared) Billed(res Response) decant.Usage {
	u := res.Usage
	if !res.Broken || res.Status/100 != 2 {
		return u
	}
	if u.Prompt() == 0 {
		u.Input = cmp.Or(p.Report.After, len(p.Body)/bytesPerToken)
	}
	u.Output = max(u.Output, p.said(res))
	return u
}

// bytesPerToken is what is assumed of text that is not there to be counted. It is rather few.
const bytesPerToken = 3

// said returns how many tokens have come of an answer that broke off.
func (p *Prepared) said(res Response) int {
	lost := max(0, res.Came-len(res.Partial)) / bytesPerToken
	if p.ticket == nil {
		return lost + len(res.Partial)/bytesPerToken
	}
	return lost + p.ticket.dr.Query.Estimator.Count(string(res.Partial))
}
