package chatserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/provider"
	"github.com/decantdev/decant/testing/testkit"
)

// A paced model says the same in so many pieces over so long.
type paced struct {
	pieces int
	over   time.Duration
}

func (p paced) Speak(ctx context.Context, t *provider.Turn, heard func(provider.Delta)) (*provider.Answer, error) {
	tick := time.NewTicker(p.over / time.Duration(p.pieces))
	defer tick.Stop()
	for range p.pieces {
		select {
		case <-tick.C:
			heard(provider.Delta{Kind: decant.KindText, Text: "a few words "})
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	text := strings.Repeat("a few words ", p.pieces)
	return &provider.Answer{Text: text, Content: []byte(`[{"type":"text","text":"` + text + `"}]`), Stop: "end_turn",
		Usage: decant.Usage{Input: len(t.Body) / 4, Output: 3 * p.pieces}}, nil
}

// 100 sessions of 100,000 tokens, each with a stream of 40 pieces over two seconds and a listener that hardly reads. None is dropped.
// It logs our own time for each message, which is what a message takes longer than its stream, and the memory of the process, its clients among it.
func TestLoad(t *testing.T) {
	testkit.NeedFull(t, "how many sessions are carried")
	const sessions, turns, over = 100, 3, 2 * time.Second
	w := newWorld(t, echo, func(w *world) { w.client = paced{40, over} })
	words := strings.Repeat("The invoice of the third of May is paid, and nobody asks for it. ", 6200) // about 100,000 tokens
	ids := make([]string, sessions)
	var all sync.WaitGroup
	for i := range ids {
		ids[i] = w.session()
		all.Go(func() { w.say(ids[i], words) })
	}
	all.Wait()
	slow := &http.Client{Transport: &http.Transport{ReadBufferSize: 512}}
	defer slow.CloseIdleConnections()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for _, id := range ids {
		r, _ := http.NewRequestWithContext(ctx, "GET", w.http.URL+"/v1/sessions/"+id+"/events", nil)
		res, err := slow.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		go io.CopyN(io.Discard, res.Body, 1000)
	}
	var mu sync.Mutex
	var took []time.Duration
	for i, id := range ids {
		all.Go(func() {
			for range turns {
				begun := time.Now()
				if o := w.say(id, fmt.Sprint("and now? ", i)); len(o.Text) != 40*12 {
					t.Errorf("session %d: %+v", i, o)
				}
				mu.Lock()
				took = append(took, time.Since(begun)-over)
				mu.Unlock()
			}
		})
		time.Sleep(over / sessions)
	}
	all.Wait()
	slices.Sort(took)
	t.Logf("%d messages: own time p50 %v, p95 %v, most %v; resident %d MB", len(took), took[len(took)/2], took[len(took)*95/100], took[len(took)-1], resident(t))
}

// resident returns the memory of this process, in MB.
func resident(t testing.TB) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	kb, err := strconv.Atoi(regexp.MustCompile(`VmHWM:\s+(\d+)`).FindStringSubmatch(string(status))[1])
	if err != nil {
		t.Fatal(err)
	}
	return kb >> 10
}

// BenchmarkTurn is our own time for a turn of a session that has had so many turns and holds 150,000 tokens, with all that a turn is: the request, the
// engine, what is written down, and the events. The floor is the same in a session that is empty.
func BenchmarkTurn(b *testing.B) {
	for _, turns := range []int{0, 10, 200} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			w := newWorld(b, echo, func(w *world) { w.client = paced{1, time.Nanosecond} })
			id := w.session()
			for i := range turns {
				w.say(id, strings.Repeat(fmt.Sprintf("On day %d the invoice is paid. ", i), 600_000/turns/31))
			}
			b.ReportAllocs()
			for b.Loop() {
				res, err := http.Post(w.http.URL+"/v1/sessions/"+id+"/messages", "application/json", strings.NewReader(`{"text":"and now?"}`))
				if err != nil {
					b.Fatal(err)
				}
				_, err = io.Copy(io.Discard, res.Body)
				if err = errors.Join(err, res.Body.Close()); err != nil || res.StatusCode != 200 {
					b.Fatal(res.StatusCode, err)
				}
			}
		})
	}
}
