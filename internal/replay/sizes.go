package replay

import "github.com/decantdev/decant/token"

// sizes are what messages really took, as far as the usage in a recording tells: how much larger each
// prompt was than the one before is what came between them.
type sizes struct {
	factor []float64 // by number of the message: its tokens are the estimate times this
	unseen []int     // by number: tokens that came with it and that the recording does not show
	left   []float64 // by number: what all cuts together leave of its tokens
	cuts   []cut     // in order of their requests
}

// A cut is where the recorded client itself sent less of its history than before: it dropped thinking or
// reminders when the user resumed the session, or cleared old results.
type cut struct {
	request  int
	from, to int     // numbers of the messages that may have lost something, half open
	by       float64 // what remains of their tokens
	kept     float64 // share of the prompt before the cut that was still read from the cache
	own      bool    // of the client's own accord, while the cache was warm
	all      bool    // it holds for every policy
}

// Bounds of what usage can tell of sizes.
const (
	mostOff   = 3    // times that an estimate may be too small or too large; what is more was something else
	leastCut  = 500  // tokens that must be missing
	leastLeft = 0.05 // of the messages that a cut was made in
)

// measure holds the reported prompts against the estimates of what came between them. was counts for
// the model that was recorded.
func (s *segment) measure(was *token.Estimator) *sizes {
	z := &sizes{}
	if n := len(s.conv.Messages); n > 0 {
		last := s.conv.Messages[n-1].Number
		z.factor, z.unseen, z.left = make([]float64, last+1), make([]int, last+1), make([]float64, last+1)
		for i := range z.factor {
			z.factor[i], z.left[i] = 1, 1
		}
	}
	for q := 1; q < len(s.requests); q++ {
		if s.followed(q) {
			s.compare(z, q, was)
		}
	}
	return z
}

// followed reports whether request q was the client's next prompt after that of q-1, with usage for both
// and no compaction between them.
func (s *segment) followed(q int) bool {
	a, b := &s.requests[q-1], &s.requests[q]
	return a.usage() != nil && b.usage() != nil && !s.compactedBetween(q)
}

// compactedBetween reports whether the client compacted between the requests q-1 and q.
func (s *segment) compactedBetween(q int) bool {
	return s.compactionsBefore(q) != s.compactionsBefore(q-1)
}

// compactionsBefore returns how many compactions of the client request q has behind it.
func (s *segment) compactionsBefore(q int) (n int) {
	r := &s.requests[q]
	for n < len(s.compactions) && s.compactions[n].before(r.messages, r.answer) {
		n++
	}
	return n
}

// compare learns from the prompts of the requests q-1 and q.
func (s *segment) compare(z *sizes, q int, was *token.Estimator) {
	a, b := &s.requests[q-1], &s.requests[q]
	news := s.conv.Messages[a.messages:b.messages]
	counted, grown := was.Messages(news), b.usage().Prompt()-a.usage().Prompt()
	switch {
	case counted == 0:
	case grown > mostOff*counted:
		z.unseen[news[len(news)-1].Number] = int(float64(grown-counted) * s.front.scale)
	case grown*mostOff >= counted:
		for i := range news {
			z.factor[news[i].Number] = float64(grown) / float64(counted)
		}
	case counted-grown >= leastCut:
		s.cut(z, q, counted-grown, was)
	}
}

// cut notes that request q lacked so many tokens of what the one before it had sent.
func (s *segment) cut(z *sizes, q, lost int, was *token.Estimator) {
	first := 0
	if n := s.compactionsBefore(q); n > 0 {
		first = s.compactions[n-1].at
	}
	before, r := &s.requests[q-1], &s.requests[q]
	ms := s.conv.Messages[min(first, before.messages):before.messages]
	whole := 0.0
	for i := range ms {
		n := ms[i].Number
		whole += (float64(was.Message(&ms[i]))*z.factor[n] + float64(z.unseen[n])) * z.left[n]
	}
	if whole == 0 {
		return
	}
	// While a round is open the agent runs on: then it was not started again.
	own := s.alive(q) && (s.readSystem(q) || s.conv.With(s.conv.Messages[:r.messages]).OpenRound())
	c := cut{
		request: q, from: ms[0].Number, to: ms[len(ms)-1].Number + 1, by: max(leastLeft, 1-float64(lost)/whole),
		kept: float64(r.usage().CacheRead) / float64(max(1, before.usage().Prompt())), own: own,
		all: !own && first == 0, // behind a compaction it may have been what the client had sent along
	}
	for i := range ms {
		z.left[ms[i].Number] *= c.by
	}
	z.cuts = append(z.cuts, c)
}

// cutAt returns the cut that was made with request q, nil when there was none.
func (z *sizes) cutAt(q int) *cut {
	for i := range z.cuts {
		if z.cuts[i].request == q {
			return &z.cuts[i]
		}
	}
	return nil
}

// of returns the tokens of a block of message number, by its estimate.
func (z *sizes) of(number, estimate int) int {
	if z == nil || number <= 0 || number >= len(z.factor) {
		return estimate
	}
	return int(float64(estimate)*z.factor[number] + 0.5)
}

// beside returns the tokens that came with a message and that the recording does not show.
func (z *sizes) beside(number int) int {
	if z == nil || number <= 0 || number >= len(z.unseen) {
		return 0
	}
	return z.unseen[number]
}
