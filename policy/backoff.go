package policy

// WaitFor returns by how much a request of a size, in any unit, has to grow before a pour for money is
// planned again that has brought nothing so many times in a row: a twentieth, and twice as much after
// each further time, up to the fifth.
func WaitFor(size, times int) int {
	return 1 + int(worth*float64(size))<<(min(times, mostTimes)-1)
}

// mostTimes are the failures after which the growth that is waited for stays the same.
const mostTimes = 5
