package policy

import (
	"fmt"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// sizes are the tokens of each message of a conversation.
type sizes struct {
	ms     []decant.Message
	coming int   // of messages that will follow
	view   []int // as the view has them now
	sums   []int // sums[i]: of the first i messages as they were
	quotes []int // quotes[i]: of what a checkpoint would quote of the first i messages
}

// sizesOf counts messages, of which a view has some tokens less already.
func sizesOf(ms []decant.Message, less []int, est *token.Estimator) *sizes {
	s := &sizes{ms: ms, sums: make([]int, 1, len(ms)+1)}
	for i := range ms {
		n := est.Message(&ms[i])
		s.view = append(s.view, n-less[i])
		s.sums = append(s.sums, s.sums[i]+n)
	}
	return s
}

// total returns the tokens of the view.
func (s *sizes) total() int {
	n := s.coming
	for _, size := range s.view {
		n += size
	}
	return n
}

// original returns the tokens of the messages [from, to) as they were.
func (s *sizes) original(from, to int) int { return s.sums[to] - s.sums[from] }

// newest returns the index from which the newest messages have so many tokens as they were.
func (s *sizes) newest(tokens int) int {
	i := len(s.ms)
	for i > 0 && s.original(i, len(s.ms)) < tokens {
		i--
	}
	return i
}

// quoted returns the tokens that a checkpoint of [from, to) takes for the pins that it covers.
func (s *sizes) quoted(from, to int) int { return s.quotes[to] - s.quotes[from] }

// outside returns the tokens of the view around [from, to).
func (s *sizes) outside(from, to int) int {
	n := s.coming
	for i, size := range s.view {
		if i < from || i >= to {
			n += size
		}
	}
	return n
}

// largest names the largest message of the view from an index on.
func (s *sizes) largest(from int) string {
	what, most := "the summary", 0
	for i := from; i < len(s.ms); i++ {
		if n := s.view[i]; n > most {
			m := &s.ms[i]
			what, most = fmt.Sprintf("%s (%s, %d tokens)", m.Name(), m.Role, n), n
		}
	}
	return what
}
