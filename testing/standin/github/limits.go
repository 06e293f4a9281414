package github

import (
	"net/http"
	"strconv"
	"time"
)

// The quotas that GitHub counts calls by.
const (
	quotaCore   = "core"
	quotaSearch = "search"
	quotaCode   = "code_search"
)

// A quota is what was used of a limit.
type quota struct {
	used  int
	reset time.Time
}

// quotaOf returns by which quota an operation is counted.
func quotaOf(op string) string {
	switch op {
	case "search/code":
		return quotaCode
	case "search/issues-and-pull-requests":
		return quotaSearch
	}
	return quotaCore
}

// limit returns how many calls a quota has, and for how long.
func (s *Server) limit(name string) (int, time.Duration) {
	switch name {
	case quotaCode:
		return 10, time.Minute
	case quotaSearch:
		return 30, time.Minute
	}
	return s.opts.Limit, time.Hour
}

// current returns a quota. The server must be locked.
func (s *Server) current(name string) *quota {
	q := s.spent[name]
	if now := s.opts.Now(); q == nil || !now.Before(q.reset) {
		_, length := s.limit(name)
		q = &quota{reset: now.Add(length)}
		s.spent[name] = q
	}
	return q
}

// spend counts a call, and returns false where there are no more.
func (s *Server) spend(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.current(name)
	if most, _ := s.limit(name); q.used >= most {
		return false
	}
	q.used++
	return true
}

// rateHeaders says what is left of a quota.
func (s *Server) rateHeaders(h http.Header, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.current(name)
	most, _ := s.limit(name)
	h.Set("X-RateLimit-Limit", strconv.Itoa(most))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(most-q.used))
	h.Set("X-RateLimit-Used", strconv.Itoa(q.used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(q.reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", name)
}

// rates answers what is left.
func (c *call) rates() (int, any, *apiError) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	all := object{}
	for _, name := range []string{quotaCore, quotaSearch, quotaCode} {
		q := c.s.current(name)
		most, _ := c.s.limit(name)
		all[name] = object{"limit": most, "remaining": most - q.used, "used": q.used, "reset": q.reset.Unix()}
	}
	return http.StatusOK, object{"resources": all, "rate": all[quotaCore]}, nil
}

// A Fault is something that goes wrong.
type Fault struct {
	Operation string // that it happens to, such as "issues/create"; empty: any
	After     int    // how many calls pass before
	Times     int    // how often it happens; 0: once

	Status     int           // of the answer: 429, 403 (the secondary limit), 401, 500, ...; 0: the connection is closed without one
	RetryAfter time.Duration // for Retry-After; 0: no such header
	Delay      time.Duration // before it happens; a client that leaves ends it
	Done       bool          // the operation is done all the same, and only its answer is lost
}

// Inject tells the server of a fault to come.
func (s *Server) Inject(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	s.faults = append(s.faults, f)
}

// count counts a call.
func (s *Server) count(op string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[op]++
}

// next returns the fault that happens to a call.
func (s *Server) next(op string) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.faults {
		f := &s.faults[i]
		switch {
		case f.Operation != "" && f.Operation != op || f.Times == 0:
			continue
		case f.After > 0:
			f.After--
			continue
		}
		f.Times--
		return *f, true
	}
	return Fault{}, false
}

// fail answers a call that a fault happens to.
func (s *Server) fail(w http.ResponseWriter, c *call, op string) (status int, v any, ok bool) {
	f, ok := s.next(op)
	if !ok {
		return 0, nil, false
	}
	if f.Delay > 0 {
		select {
		case <-c.r.Context().Done():
		case <-time.After(f.Delay):
		}
	}
	if f.Done {
		c.lost = true
		return 0, nil, false
	}
	if f.Status == 0 {
		return 0, nil, drop(w)
	}
	if f.RetryAfter > 0 {
		c.header.Set("Retry-After", strconv.Itoa(int(f.RetryAfter.Seconds())))
	}
	texts := map[int]string{401: "Bad credentials", 403: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
		429: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.", 502: "Server Error", 500: "Server Error"}
	e := &apiError{status: f.Status, message: texts[f.Status]}
	body := e.body()
	if f.Status == http.StatusForbidden || f.Status == http.StatusTooManyRequests {
		body["documentation_url"] = "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"
	}
	return f.Status, body, true
}

// drop closes the connection.
func drop(w http.ResponseWriter) bool {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
	return true
}
