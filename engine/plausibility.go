package engine

// mostPerToken is how many bytes of text a token can stand for, on average over a whole prompt. Prose
// and code have about four.
const mostPerToken = 16

// believable reports whether the usage that an upstream reported can be that of the request. Simple
// stand-ins report the same few tokens for everything, and servers that imitate the API leave out what
// they read from their cache. A meter that started from such a report would be wrong by the whole
// conversation, while the estimate is wrong by a tenth.
//
// A client that asks the provider to clear old results is told the size of what was left of them.
func (f *finished) believable() bool {
	u := f.res.Usage
	return u.Prompt() == 0 || f.ticket.Draft.Text() <= mostPerToken*u.Prompt() || f.ticket.Draft.Query.AsksForClearing()
}
