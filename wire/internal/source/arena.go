package source

// A arena holds values of one type in large arrays, so that a conversation of ten thousand blocks does
// not cost ten thousand allocations. What it handed out stays where it is.
type arena[T any] struct {
	array []T
	room  int // of all arrays
	run   int // where the run of values begins that take returns next
}

// A new array of a arena has half the room of all before it together, within these bounds.
const leastArena, mostArena = 16, 1024

// grow makes room for n values more than the run has, so that pushing them moves nothing.
func (s *arena[T]) grow(n int) {
	if len(s.array)+n <= cap(s.array) {
		return
	}
	run := s.array[s.run:]
	s.array = append(make([]T, 0, max(2*len(run)+n, leastArena, min(s.room/2, mostArena))), run...)
	s.room += cap(s.array)
	s.run = 0
}

// push appends a value to the run and returns where it is until the next push.
func (s *arena[T]) push(v T) *T {
	if len(s.array) == cap(s.array) {
		s.grow(1)
	}
	s.array = append(s.array, v)
	return &s.array[len(s.array)-1]
}

// one adds a run of a single value and returns where it is for good.
func (s *arena[T]) one(v T) *T {
	p := s.push(v)
	s.run = len(s.array)
	return p
}

// current returns the run.
func (s *arena[T]) current() []T { return s.array[s.run:] }

// drop forgets the run.
func (s *arena[T]) drop() { s.array = s.array[:s.run] }

// clone adds a run of the values of vs and returns it. Nothing must have been pushed since the last run.
func (s *arena[T]) clone(vs []T) []T {
	s.grow(len(vs))
	s.array = append(s.array, vs...)
	return s.take()
}

// take ends the run and returns it. It cannot grow into its neighbour.
func (s *arena[T]) take() []T {
	run := s.array[s.run:len(s.array):len(s.array)]
	s.run = len(s.array)
	return run
}
