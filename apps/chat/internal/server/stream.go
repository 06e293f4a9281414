package chatserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/decantdev/decant/agent"
)

// errMissed means that some of what a listener has not heard is no longer known.
var errMissed = errors.New("some events are no longer known")

// listen calls do with each event behind a number, until do returns false, the room is left or ctx ends. Whenever nothing has happened for a
// while, do is called with an event without number.
func (rm *room) listen(ctx context.Context, from int64, do func(logged) bool) error {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		events, more, missed := rm.after(from)
		if missed {
			return errMissed
		}
		for _, e := range events {
			if !do(e) {
				return nil
			}
			from = e.number
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-more:
		case <-beat.C:
			if !do(logged{}) {
				return nil
			}
		case <-rm.gone:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ends reports whether a run has ended with the event.
func (e *logged) ends() bool {
	return bytes.HasPrefix(e.data, []byte(`{"kind":"`+string(agent.EventDone)+`"`))
}

// A sender writes events to a client, each as soon as it is there.
type sender struct {
	w    http.ResponseWriter
	room *room
	flow *http.ResponseController
	err  error // the client has left
}

// newSender begins a stream.
func newSender(w http.ResponseWriter, rm *room) *sender {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &sender{w: w, room: rm, flow: http.NewResponseController(w)}
	out.flow.Flush() // the client knows now that it is heard; where it has left, the next event says so
	return out
}

// slow is how long a client may take to read what is sent. One that takes longer is left; it can come back for the rest.
const slow = 30 * time.Second

// send sends an event, or a comment.
func (o *sender) send(e logged) bool {
	var text []byte
	if e.data == nil {
		text = []byte(": nothing new\n\n")
	} else {
		text = fmt.Appendf(nil, "id: %s\ndata: %s\n\n", o.room.id(e.number), e.data)
	}
	o.flow.SetWriteDeadline(time.Now().Add(slow)) // not every kind of connection has one
	if _, o.err = o.w.Write(text); o.err == nil {
		o.err = o.flow.Flush()
	}
	if o.err == nil {
		o.flow.SetWriteDeadline(time.Time{}) // the connection may serve other requests
	}
	return o.err == nil
}

// stream sends what happens behind a number, to the end of a run; nil: until the client leaves. Who has missed something gets everything at
// once instead.
func (h *messageAPI) stream(w http.ResponseWriter, r *http.Request, rm *room, from int64, run *running) {
	out := newSender(w, rm)
	ctx, stop := h.rooms.while(r.Context())
	defer stop()
	if _, _, missed := rm.after(from); !missed {
		claimOf(ctx).done() // to listen takes no room
	}
	for {
		err := rm.listen(ctx, from, func(e logged) bool { return out.send(e) && (run == nil || !e.ends()) })
		if !errors.Is(err, errMissed) {
			return // the run, the client or the service has ended
		}
		if from, err = h.snapshot(ctx, out); err != nil || run.over() {
			return
		}
		claimOf(ctx).done()
	}
}

// over reports whether a run has ended.
func (run *running) over() bool {
	if run == nil {
		return false
	}
	select {
	case <-run.done:
		return true
	default:
		return false
	}
}

// snapshot sends everything that was said before the run, and returns the number of the event that it stands for.
func (h *messageAPI) snapshot(ctx context.Context, out *sender) (int64, error) {
	now, err := h.rooms.now(ctx, out.room.key)
	if err != nil {
		return 0, err
	}
	messages, number := out.room.beginning()
	data, err := json.Marshal(&event{Kind: kindSnapshot, Messages: messages, Session: now})
	if err != nil {
		return 0, err
	}
	if !out.send(logged{number: number, data: data}) {
		return 0, out.err
	}
	return number, nil
}
