package chatserver

import (
	"fmt"
	"iter"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
)

// unasked is why a call is denied that somebody would have to allow: a client of OpenAI's cannot be asked.
func unasked(*agent.Call) string { return "nobody can be asked here" }

// whole answers when the run has ended.
func (c *completing) whole(events iter.Seq2[agent.Event, error]) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		if o := e.Outcome; o != nil {
			one := choice{Message: map[string]any{"role": "assistant", "content": o.Text}, Finish: finished(o.Stop)}
			write(c.w, http.StatusOK, c.body("chat.completion", one, o))
		}
	}
	return nil
}

// stream answers while the run goes on.
func (c *completing) stream(events iter.Seq2[agent.Event, error]) error {
	begun := false
	for e, err := range events {
		if err != nil && !begun {
			return err
		}
		if e.Kind == agent.EventStatus {
			continue // the request may still be refused
		}
		if !begun {
			begun = true
			c.w.Header().Set("Content-Type", "text/event-stream")
			c.w.Header().Set("Cache-Control", "no-store")
			c.chunk(choice{Delta: map[string]any{"role": "assistant", "content": ""}}, nil)
		}
		switch {
		case err != nil:
			c.line(errorBody("upstream", c.told(err)))
		case e.Kind == agent.EventText:
			c.chunk(choice{Delta: map[string]any{"content": e.Text}}, nil)
		case e.Kind == agent.EventResult:
			c.chunk(choice{Delta: map[string]any{"content": "\n\n"}}, nil) // what is said before a call and behind it are two paragraphs
		case e.Outcome != nil:
			c.chunk(choice{Delta: map[string]any{}, Finish: finished(e.Outcome.Stop)}, e.Outcome)
		}
	}
	fmt.Fprint(c.w, "data: [DONE]\n\n")
	return nil
}

// chunk sends a part of an answer.
func (c *completing) chunk(one choice, o *agent.Outcome) {
	c.line(c.body("chat.completion.chunk", one, o))
}

// line sends an event. An error means that the client has left, and then the run ends with its context.
func (c *completing) line(body any) {
	data, err := json.Marshal(body)
	if err != nil {
		return // of what we have made ourselves
	}
	fmt.Fprintf(c.w, "data: %s\n\n", data)
	http.NewResponseController(c.w).Flush()
}
