package plan

import (
	"sync"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/token"
)

// Estimators keeps estimators by model, and the sizes of fixed parts, which are large and the same on
// every request.
type Estimators struct {
	mu     sync.Mutex
	models map[string]*token.Estimator
	fixeds map[fixedKey]int
}

type fixedKey struct {
	model   string
	version decant.Hash
}

// The bounds of what is kept: a client can name as many models as it likes, and by names as long as it likes.
const (
	mostFixed   = 4096 // fixed parts whose sizes are kept
	mostModels  = 256
	longestName = 256 // bytes of a model's id
)

// For returns the estimator of a model, the same one each time as long as there is room.
func (s *Estimators) For(m token.Model) *token.Estimator {
	if len(m.ID) > longestName {
		return token.For(m)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.models == nil {
		s.models = map[string]*token.Estimator{}
	}
	if e := s.models[m.ID]; e != nil {
		return e
	}
	if len(s.models) >= mostModels {
		clear(s.models)
	}
	e := token.For(m)
	s.models[m.ID] = e
	return e
}

// Fixed returns the tokens of a system prompt with its tools, as e estimates them; 0 for one without a version.
func (s *Estimators) Fixed(e *token.Estimator, f *decant.Fixed) int {
	if f.Version.IsZero() {
		return 0
	}
	if len(e.Model().ID) > longestName {
		return e.Fixed(f)
	}
	k := fixedKey{e.Model().ID, f.Version}
	s.mu.Lock()
	n, ok := s.fixeds[k]
	s.mu.Unlock()
	if ok {
		return n
	}
	n = e.Fixed(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fixeds == nil || len(s.fixeds) >= mostFixed {
		s.fixeds = map[fixedKey]int{}
	}
	s.fixeds[k] = n
	return n
}
