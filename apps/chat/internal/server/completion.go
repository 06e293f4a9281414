package chatserver

import (
	"crypto/rand"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
	"github.com/decantdev/decant/store"
)

// completionAPI answers requests of Chat Completions.
type completionAPI struct{ agents *agentBook }

// listModels lists the agents as OpenAI lists models.
func (h *completionAPI) listModels(w http.ResponseWriter, r *http.Request, tenant string) error {
	all, err := h.agents.list(r.Context(), tenant)
	if err != nil {
		return err
	}
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	out := []model{}
	for _, a := range all {
		out = append(out, model{a.Name, "model", 0, "decant"})
	}
	write(w, http.StatusOK, map[string]any{"object": "list", "data": out})
	return nil
}

// A completion is a request of Chat Completions, as far as an agent can follow it: its own configuration says the rest.
type completion struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string             `json:"role"`
		Content stdjson.RawMessage `json:"content"`
	} `json:"messages"`
}

// split returns what was said before, as messages of the Messages API, what the user says now and what he shows with it, and what the system says.
func (in *completion) split() (before []stdjson.RawMessage, now string, with []agent.Attachment, system string, err error) {
	for i, m := range in.Messages {
		text := textIn(m.Content)
		switch m.Role {
		case "system", "developer":
			system += text + "\n"
			continue
		case "user", "assistant":
		default:
			return nil, "", nil, "", fmt.Errorf("messages[%d].role: user, assistant or system: the tools of an agent are its own: %q", i, m.Role)
		}
		if text == "" {
			return nil, "", nil, "", fmt.Errorf("messages[%d].content: it holds no text", i)
		}
		images, err := imagesIn(m.Role, m.Content)
		if err != nil {
			return nil, "", nil, "", fmt.Errorf("messages[%d].%w", i, err)
		}
		if i == len(in.Messages)-1 && m.Role == "user" {
			return before, text, images, system, nil
		}
		one, err := earlier(m.Role, text, images)
		if err != nil {
			return nil, "", nil, "", fmt.Errorf("messages[%d]: %w", i, err)
		}
		before = append(before, one)
	}
	return nil, "", nil, "", errors.New("messages: the last one is not the user's")
}

// completions is the session of the engine in which all of a tenant's completions are: a client of OpenAI's names none, and its conversations are told
// apart by what they say.
const completions = "completions"

// postCompletion answers as OpenAI does, with what an agent says to the end of its run. Its messages are no session of the service.
func (h *completionAPI) postCompletion(w http.ResponseWriter, r *http.Request, tenant string) error {
	var in completion
	if err := json.UnmarshalRead(r.Body, &in); err != nil { // it has members that nobody here knows
		return unread(err, invalid(err))
	}
	before, now, with, system, err := in.split()
	if err != nil {
		return invalid(err)
	}
	conf, err := h.agents.find(r.Context(), tenant, in.Model)
	if errors.Is(err, store.ErrNotFound) {
		return &apiError{http.StatusNotFound, "model_not_found", "there is no agent " + in.Model}
	}
	if err != nil {
		return err
	}
	o, err := h.agents.options(tenant, conf)
	if err != nil {
		return err
	}
	o.Journals = nil
	if system != "" {
		o.System += "\n\n" + system
	}
	o.Permit = agent.Unattended(o.Permit, unasked)
	a, err := agent.New(h.agents.opts.Client, o)
	if err != nil {
		return err
	}
	session, err := a.Load(completions, before)
	if err != nil {
		return invalid(err)
	}
	c := &completing{w: w, id: "chatcmpl-" + rand.Text(), model: in.Model, created: h.agents.opts.Now(), told: h.agents.opts.told}
	if in.Stream {
		return c.stream(session.Run(r.Context(), now, with...))
	}
	return c.whole(session.Run(r.Context(), now, with...))
}

// A completing thing is an answer in OpenAI's form.
type completing struct {
	w       http.ResponseWriter
	id      string
	model   string
	created time.Time
	told    func(error) string
}

// A choice is the one answer.
type choice struct {
	Index   int            `json:"index"`
	Message map[string]any `json:"message,omitzero"`
	Delta   map[string]any `json:"delta,omitzero"`
	Finish  *string        `json:"finish_reason"`
}

// body returns an answer or a part of one.
func (c *completing) body(object string, one choice, o *agent.Outcome) map[string]any {
	out := map[string]any{"id": c.id, "object": object, "created": c.created.Unix(), "model": c.model, "choices": []choice{one}}
	if o != nil {
		u := o.Spent.Usage
		out["usage"] = map[string]int{"prompt_tokens": u.Prompt(), "completion_tokens": u.Output, "total_tokens": u.Context()}
	}
	return out
}

// finished returns why an answer ends, in OpenAI's words.
func finished(stop agent.Stop) *string {
	why := "stop"
	switch stop {
	case agent.StopLength, agent.StopBudget, agent.StopTurns:
		why = "length"
	case agent.StopRefused:
		why = "content_filter"
	}
	return &why
}
