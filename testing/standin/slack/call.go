package slack

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// A form is what a call says.
type form struct{ url.Values }

// mostBody is how many bytes a request may have.
const mostBody = 1 << 20

// admit reads a call and says why it is refused, in Slack's words.
func (s *Server) admit(r *http.Request, scope string) (form, string) {
	r.Body = io.NopCloser(io.LimitReader(r.Body, mostBody))
	if err := r.ParseForm(); err != nil {
		return form{}, "invalid_form_data"
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token == "" {
		token = r.PostForm.Get("token")
	}
	switch {
	case token == "":
		return form{}, "not_authed"
	case token != s.opts.Token:
		return form{}, "invalid_auth"
	case scope != "" && s.opts.Scopes != nil && !slices.Contains(s.opts.Scopes, scope):
		return form{}, "missing_scope"
	}
	return form{r.PostForm}, ""
}

// channel returns the id of a channel that is named by it or, where names may be, by its name.
func (s *Server) channel(name string, names bool) (id, why string) {
	for id, called := range s.opts.Channels {
		if id != name && (!names || strings.TrimPrefix(name, "#") != called) {
			continue
		}
		if slices.Contains(s.opts.Outside, id) {
			return "", "not_in_channel"
		}
		return id, ""
	}
	return "", "channel_not_found"
}

func (s *Server) authTest(form) object {
	return object{"ok": true, "url": "https://acme.slack.com/", "team": "Acme", "user": "decant", "team_id": "T01", "user_id": "U01", "bot_id": "B01"}
}

func (s *Server) post(f form) object {
	id, why := s.channel(f.Get("channel"), true)
	text, meta := f.Get("text"), f.Get("metadata")
	switch {
	case why != "":
	case strings.TrimSpace(text) == "":
		why = "no_text"
	case utf8.RuneCountInString(text) > mostText:
		why = "msg_too_long"
	case meta != "" && !validMetadata(meta):
		why = "invalid_metadata_format"
	case f.Get("thread_ts") != "" && !s.there(id, f.Get("thread_ts")):
		why = "thread_not_found"
	}
	if why != "" {
		return refused(why)
	}
	m := s.add(Message{Channel: id, Thread: f.Get("thread_ts"), Text: text, Metadata: json.RawMessage(meta)})
	return object{"ok": true, "channel": id, "ts": m.TS, "message": m.object(false)}
}

// validMetadata reports whether metadata has a type and a payload.
func validMetadata(text string) bool {
	var m struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	}
	return json.Unmarshal([]byte(text), &m) == nil && m.Type != "" && m.Payload != nil
}

// there reports whether a channel has a message that begins a thread.
func (s *Server) there(channel, ts string) bool {
	return slices.ContainsFunc(s.Messages(), func(m Message) bool { return m.Channel == channel && m.TS == ts })
}

// add adds a message.
func (s *Server) add(m Message) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.TS = s.next()
	s.messages = append(s.messages, m)
	return m
}

// object returns a message as Slack sends it.
func (m *Message) object(meta bool) object {
	o := object{"type": "message", "ts": m.TS, "text": m.Text, "bot_id": "B01", "user": "U01"}
	if m.Thread != "" {
		o["thread_ts"] = m.Thread
	}
	if meta && len(m.Metadata) > 0 {
		o["metadata"] = m.Metadata
	}
	return o
}

func (s *Server) list(form) object {
	all := []object{}
	for id, name := range s.opts.Channels {
		all = append(all, object{"id": id, "name": name, "is_channel": true, "is_member": !slices.Contains(s.opts.Outside, id)})
	}
	return object{"ok": true, "channels": all, "response_metadata": object{"next_cursor": ""}}
}

func (s *Server) history(f form) object {
	return s.some(f, func(m *Message) bool { return m.Thread == "" && (f.Get("oldest") == "" || m.TS >= f.Get("oldest")) })
}

func (s *Server) replies(f form) object {
	ts := f.Get("ts")
	if id, why := s.channel(f.Get("channel"), false); why == "" && !s.there(id, ts) {
		return refused("thread_not_found")
	}
	return s.some(f, func(m *Message) bool { return m.TS == ts || m.Thread == ts })
}

// some returns messages of a channel, which calls name by its id only.
func (s *Server) some(f form, want func(*Message) bool) object {
	id, why := s.channel(f.Get("channel"), false)
	if why != "" {
		return refused(why)
	}
	meta := f.Get("include_all_metadata") == "true" || f.Get("include_all_metadata") == "1"
	out := []object{}
	for _, m := range s.Messages() {
		if m.Channel == id && want(&m) {
			out = append(out, m.object(meta))
		}
	}
	return object{"ok": true, "messages": out, "has_more": false}
}

// webhook takes a message over an incoming webhook, which answers "ok" and nothing else.
func (s *Server) webhook(w http.ResponseWriter, r *http.Request) {
	s.count("webhook")
	if status, over := s.Strike(w, r, "webhook"); over {
		if status != 0 {
			http.Error(w, "rollup_error", status)
		}
		return
	}
	var m struct {
		Text string `json:"text"`
	}
	if json.NewDecoder(io.LimitReader(r.Body, mostBody)).Decode(&m) != nil || m.Text == "" {
		http.Error(w, "invalid_payload", http.StatusBadRequest)
		return
	}
	var ids []string
	for id := range s.opts.Channels {
		ids = append(ids, id)
	}
	s.add(Message{Channel: slices.Min(append(ids, "~")), Text: m.Text})
	s.mu.Lock()
	lost := s.lose["webhook"] > 0
	if lost {
		s.lose["webhook"]--
	}
	s.mu.Unlock()
	if lost {
		panic(http.ErrAbortHandler)
	}
	io.WriteString(w, "ok")
}
