package page_test

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// hostile is what a model may say to do harm.
var hostile = "<script>window.harmed = 1</script> <img src=x onerror=\"window.harmed = 2\"> [click](javascript:window.harmed=3) " +
	"[data](data:text/html,x) \x1b[31mred\x1b[0m \u202egnp.exe\n\n```\n</code><script>window.harmed = 4</script>\n```\n\n" +
	"![track](http://tracker.invalid/pixel.png) [fine](https://example.com/) " + strings.Repeat("*[`", 3000) + "\n\n" + strings.Repeat("x", 1<<20)

// rich has every form of Markdown.
const rich = "## A plan\n\nHere is **what** to do, with `code` and a [link](https://example.com/a_b).\n\n1. First, *read* the file\n2. Then change it\n   - one thing\n   - another\n\n" +
	"```go\nfunc main() {\n\tfmt.Println(\"hello\")\n}\n```\n\n| name | count |\n|:--|--:|\n| apples | 3 |\n| pears | 12 |\n\n> A quote that goes on.\n\n- [x] done\n- [ ] to do\n"

// record is what a pour keeps.
const record = "The user plans a move to Lisbon in May.\nFlat: Rua da Rosa 12, EUR 1,450 a month.\nOpen: a school for the children."

// say takes what the user says and begins a run.
func (s *service) say(w http.ResponseWriter, r *http.Request, t *talk, in object) {
	said, key := in["text"].(string), r.Header.Get("Idempotency-Key")
	switch {
	case s.keys[key]:
		w.Header().Set("Content-Type", "text/event-stream")
		return
	case t.waits != nil:
		refuse(w, 409, "waiting", "calls of the session wait to be allowed")
		return
	}
	s.keys[key] = true
	if t.stop != nil {
		t.steered = append(t.steered, said)
		answer(w, 202, object{"steered": true})
		return
	}
	t.mark()
	t.user(said, in["attachments"])
	if t.title == "" {
		t.title = said
	}
	s.run(w, t, said)
}

func (t *talk) user(said string, attachments any) {
	t.messages = append(t.messages, object{"index": len(t.messages), "role": "user", "text": said, "attachments": attachments})
	t.tell(object{"kind": "user", "text": said})
}

// run begins a run. The service is locked.
func (s *service) run(w http.ResponseWriter, t *talk, said string) {
	ctx, stop := context.WithCancel(context.Background())
	t.stop, t.done, t.cut = stop, make(chan struct{}), false
	s.runs++
	go s.play(ctx, t, said)
	w.Header().Set("Content-Type", "text/event-stream")
	w.(http.Flusher).Flush()
}

// do calls f with the lock.
func (s *service) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// play answers.
func (s *service) play(ctx context.Context, t *talk, said string) {
	defer close(t.done)
	stop := "answered"
	switch {
	case strings.Contains(said, "approve"):
		stop = "approval"
		s.stream(ctx, t, "I would like to change the file.")
		s.do(func() {
			t.waits = object{"id": "call-1", "tool": "write_file", "arguments": object{"path": "notes.txt", "text": "new line"}, "preview": "--- notes.txt\n+++ notes.txt\n@@ -1 +1 @@\n-old line\n+new line", "waiting": true}
			t.messages[len(t.messages)-1]["calls"] = []object{t.waits}
			t.tell(object{"kind": "approval", "call": t.waits})
		})
	case strings.Contains(said, "pour"):
		s.do(func() { t.tell(object{"kind": "status", "text": "Organizing conversation..."}) })
		s.do(func() {
			p := t.pour()
			t.tell(object{"kind": "pour", "pour": object{"before": p["before"], "after": p["after"], "covered": p["messages"], "record": record}})
		})
		s.stream(ctx, t, "Done. I still know what matters.")
	case strings.Contains(said, "hostile"):
		s.stream(ctx, t, hostile)
	case strings.Contains(said, "slow"):
		s.stream(ctx, t, strings.Repeat(slowly, 200))
	case strings.Contains(said, "rich"):
		s.do(func() {
			t.tell(object{"kind": "thinking", "text": "The user wants to see everything."})
			c := object{"id": "call-0", "tool": "search", "arguments": object{"query": "apples and pears"}}
			t.tell(object{"kind": "call", "call": c})
			t.tell(object{"kind": "result", "call": object{"id": "call-0", "tool": "search", "arguments": c["arguments"], "result": "2 results\napples\npears"}})
		})
		s.stream(ctx, t, rich)
	default:
		s.stream(ctx, t, "You said: "+said)
	}
	s.do(func() {
		if ctx.Err() != nil {
			stop, t.cut = "cancelled", true
		}
		t.stop = nil
		t.tell(object{"kind": "done", "outcome": object{"stop": stop, "text": ""}})
	})
}

// slowly is what a slow answer says again and again.
const slowly = "one more word "

// stream says something in pieces. A slow answer waits in the middle until the service is told to go on: how long a browser takes, nobody knows.
func (s *service) stream(ctx context.Context, t *talk, all string) {
	size := max(14, len(all)/100)
	for from := 0; from < len(all) && ctx.Err() == nil; from += size {
		if from == 50*size && strings.HasPrefix(all, slowly) {
			select {
			case <-s.goOn:
			case <-ctx.Done():
			}
		}
		s.do(func() {
			part := strings.ToValidUTF8(all[from:min(len(all), from+size)], "")
			t.partial += part
			t.tell(object{"kind": "text", "text": part})
		})
	}
	s.do(func() {
		if ctx.Err() == nil {
			t.partial = all
		}
		t.messages = append(t.messages, object{"index": len(t.messages), "role": "assistant", "text": t.partial})
		t.tokens += 900
		t.tell(object{"kind": "message", "text": t.partial, "size": t.tokens, "window": 200000})
		t.partial = ""
		for _, said := range t.steered {
			t.user(said, nil)
		}
		t.steered = nil
	})
}

func (s *service) halt(w http.ResponseWriter, r *http.Request, t *talk, _ object) {
	if t.stop != nil {
		t.stop()
		done := t.done
		s.mu.Unlock()
		<-done
		s.mu.Lock()
	}
	w.WriteHeader(204)
}

// decide answers a call that waits.
func (s *service) decide(w http.ResponseWriter, r *http.Request, t *talk, in object) {
	if t.waits == nil || t.waits["id"] != r.PathValue("call") {
		refuse(w, 409, "unknown_call", "no such call waits to be allowed")
		return
	}
	t.mark()
	call, result := t.waits, "written"
	t.waits = nil
	delete(call, "waiting")
	switch in["kind"] {
	case "deny":
		result = "denied: " + in["reason"].(string)
		call["error"] = true
	case "edit":
		call["arguments"] = in["arguments"]
	}
	call["result"] = result
	t.tell(object{"kind": "result", "call": call})
	s.run(w, t, "it was "+in["kind"].(string)+", "+text(call["arguments"]))
}

func (s *service) rewind(w http.ResponseWriter, r *http.Request, t *talk, in object) {
	if t.stop != nil {
		refuse(w, 409, "running", "the session has a run under way")
		return
	}
	t.messages, t.waits, t.cut = t.messages[:int(in["message"].(float64))], nil, false
	t.mark()
	t.tell(object{"kind": "snapshot", "messages": t.messages, "session": t.about()})
	answer(w, 200, t.about())
}

func (s *service) fork(w http.ResponseWriter, r *http.Request, t *talk, in object) {
	n := int(in["message"].(float64))
	answer(w, 201, s.begin(t.title+" (branch)", t.messages[:n:n]...).about())
}

// pour pours a session.
func (t *talk) pour() object {
	before := max(t.tokens, 120000)
	t.tokens, t.hold = 9000, false
	p := object{"number": len(t.points) + 1, "messages": len(t.messages), "before": before, "after": t.tokens, "record": record, "created": time.Now()}
	t.points = append(t.points, p)
	return p
}

func (s *service) undo(w http.ResponseWriter, r *http.Request, t *talk, _ object) {
	if len(t.points) == 0 {
		refuse(w, 409, "nothing", "there is no pour to undo")
		return
	}
	t.tokens, t.hold = t.points[len(t.points)-1]["before"].(int), true
	t.points = t.points[:len(t.points)-1]
	answer(w, 200, t.context())
}

func (t *talk) context() object {
	c := object{"tokens": t.tokens, "window": 200000, "cycle": len(t.points), "messages": len(t.messages), "sent": len(t.messages), "flushes": len(t.points), "checkpoints": t.points, "hold": t.hold}
	if len(t.messages) > 1 && len(t.points) == 0 {
		c["next"] = object{"before": t.tokens, "after": 9000, "covered": len(t.messages) - 1, "record": record}
	}
	return c
}
