package doctor

import (
	"context"
	"net/http"
	"time"

	"github.com/decantdev/decant/internal/otlp"
)

// upstream finds out whether the API answers, and how far this machine's clock is off. It needs no
// credentials, because any answer will do.
func (x *examination) upstream(ctx context.Context) {
	base := x.Config.Destinations()[0].String()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, base, nil)
	if err != nil {
		x.say(broken, "upstream", "%v", err)
		return
	}
	begin := x.Now()
	res, err := (&http.Client{Transport: x.Outbound, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
	if err != nil {
		x.say(broken, "upstream", "%v (check anthropic_upstream, HTTPS_PROXY and, behind a proxy with its own certificates, ca)", err)
		return
	}
	defer res.Body.Close()
	end := x.Now()
	x.say(fine, "upstream", "%s answers after %d ms", base, end.Sub(begin).Milliseconds())
	x.clock(res.Header.Get("Date"), begin, end)
}

// clock compares this machine's clock with the upstream's.
func (x *examination) clock(date string, begin, end time.Time) {
	there, err := http.ParseTime(date)
	if err != nil {
		x.say(note, "clock", "the upstream does not say what time it is")
		return
	}
	skew := offset(there, begin, end).Round(time.Second)
	switch {
	case skew.Abs() > 5*time.Minute:
		x.say(broken, "clock", "this machine is %s off; when the provider's cache is cold and what a day cost will be wrong", skew)
	case skew.Abs() > 30*time.Second:
		x.say(worry, "clock", "this machine is %s off", skew)
	default:
		x.say(fine, "clock", "within %d s of the upstream's", max(1, int(skew.Abs().Seconds())))
	}
}

// offset returns by how many whole seconds, at least, a clock is ahead of another one that showed the time
// there at some moment between begin and end. Network delay must not count as skew.
func offset(there, begin, end time.Time) time.Duration {
	switch until := there.Add(time.Second); {
	case begin.After(until):
		return begin.Sub(until)
	case end.Before(there):
		return end.Sub(there)
	}
	return 0
}

// collector finds out whether the collector accepts traces, by sending an empty list.
func (x *examination) collector(ctx context.Context) {
	e := &x.Config.Tracing.Export
	if e.URL == "" {
		return
	}
	at, header, err := e.Endpoint()
	if err != nil {
		x.say(broken, "traces", "%v", err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := otlp.New(otlp.Options{Endpoint: at, Header: header, Base: x.Outbound}).UploadTraces(ctx, nil); err != nil {
		x.say(worry, "traces", "%s: %v; requests are not affected, traces are lost", e.URL, err)
		return
	}
	x.say(fine, "traces", "%s takes them", e.URL)
}
