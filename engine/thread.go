package engine

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/internal/jsonspan"
	"github.com/decantdev/decant/wire"
)

// A Thread is the conversation of a program that calls its model by itself, without HTTP that Decant
// could stand in: it appends what is said, asks for the view to send, and tells what the provider
// reported. It is not safe for concurrent use.
type Thread struct {
	engine *Engine
	req    Request
	conv   decant.Conversation
	last   *Prepared // that was asked for last, nil: it was answered, or none was
	said   *Prepared // that was answered last
}

// Thread returns a thread for the conversation c, which may hold messages already: those that the
// engine has seen before, in this process or another, continue where they were. Tenant, session,
// project, preset and mode are those of req; its body is not used.
func (e *Engine) Thread(req Request, c *decant.Conversation) *Thread {
	t := &Thread{engine: e, req: req, conv: *c}
	t.conv.Messages = nil
	t.Append(c.Messages...)
	return t
}

// Append adds messages to the end. They are numbered anew.
func (t *Thread) Append(ms ...decant.Message) {
	for _, m := range ms {
		m.Number = len(t.conv.Messages) + 1
		blocks := make([]decant.Block, len(m.Blocks))
		for i, b := range m.Blocks {
			b.Ref = decant.Ref{Message: m.Number, Block: i}
			blocks[i] = b
		}
		m.Blocks = blocks
		t.conv.Messages = append(t.conv.Messages, m)
	}
}

// View returns what to send to the model now, and how it came about; what was decided is stored when it returns. The
// view goes to a provider together with Report.ContextManagement and Report.Betas.
//
// There is either a view or an error, never both. When a step of Decant's own has failed, the view is the one that was
// decided before, or the conversation as it is, and Report.Fault says what failed. The errors are those of
// Engine.Prepare. A view that was asked for before and has had no answer counts as failed.
func (t *Thread) View(ctx context.Context) (*decant.Conversation, *Report, error) {
	t.finish(Response{})
	body, err := wire.Encode(&t.conv, dialectOf(t.req.Dialect).About().Format)
	if err != nil {
		return nil, nil, fmt.Errorf("write the conversation: %w", err)
	}
	req := t.req
	req.Body = body
	p, err := t.engine.Prepare(ctx, &req)
	if err != nil {
		return nil, nil, err
	}
	return t.ready(p)
}

// ready makes a prepared request the one that was asked for last, and returns its view.
func (t *Thread) ready(p *Prepared) (*decant.Conversation, *Report, error) {
	t.last = p
	report := p.Report
	report.Fault, report.Betas = p.Fault, p.Betas
	if at := jsonspan.Member(p.Body, 0, "context_management"); !at.IsZero() {
		report.ContextManagement = bytes.Clone(at.Of(p.Body))
	}
	if p.View() == nil {
		return &t.conv, &report, nil
	}
	return p.View(), &report, nil
}

// Paused tells that the model has stopped behind a summary (stop reason "compaction"), where the thread's Request said
// that its program goes on then (Request.Pauses). Content is that of the answer, a JSON list of blocks, and usage all
// that was reported for it. It returns the view to send now, as View does: the summary, the newest messages behind it
// and, where a budget is nearly spent, a word to come to an end. The answer to that is the one to tell Answered of, and
// to append.
//
// It returns no view where the content is not such a summary: then it is an answer like any other.
func (t *Thread) Paused(ctx context.Context, content []byte, usage decant.Usage) (*decant.Conversation, *Report, error) {
	if t.last == nil {
		return nil, nil, nil
	}
	p, err := t.engine.Paused(ctx, t.last, Response{Status: http.StatusOK, Content: content, Extra: usage, Stop: "compaction"})
	if err != nil || p == nil {
		return nil, nil, err
	}
	return t.ready(p)
}

// Answered tells what the provider reported for the view that was asked for last. Append the answer
// itself before the next View.
func (t *Thread) Answered(u decant.Usage) { t.finish(Response{Status: http.StatusOK, Usage: u}) }

// Close ends the thread for now: a view that has had no answer counts as failed, and what it may have cost is no longer
// held back. The conversation stays as it is, and a later View goes on with it. If its preset asks for it, what is
// worth remembering is saved (Models.Flusher).
func (t *Thread) Close() {
	t.finish(Response{})
	if t.said != nil {
		t.engine.flusher.closed(t.said)
		t.said = nil
	}
}

// finish tells the engine once how the newest view was answered.
func (t *Thread) finish(res Response) {
	if t.last != nil {
		t.engine.Finish(t.last, res)
		if t.last.out != nil && res.Status == http.StatusOK {
			t.said = t.last
		}
		t.last = nil
	}
}
