package soak

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/decantdev/decant/testing/testkit"
)

// A sample is what the process holds at one moment.
type sample struct {
	at                   time.Duration // since the first
	rss, peak, heap      float64       // MB
	files, routines      int
	opened               int     // descriptors of the database, which are not among files
	database, writeAhead float64 // MB
	asked                int     // requests so far
	lines                int     // conversations so far
	faults               float64 // of Decant's own
}

// A gauge keeps samples. Only one goroutine writes it at a time.
type gauge struct {
	samples []sample
	begin   int // of the long lap
	start   time.Time
}

// watch takes samples until the context ends.
func (s *soak) watch(ctx context.Context) {
	for {
		s.gauge.samples = append(s.gauge.samples, s.sample())
		select {
		case <-time.After(2 * time.Second):
		case <-ctx.Done():
			return
		}
	}
}

// sample looks at the process.
func (s *soak) sample() sample {
	if s.gauge.start.IsZero() {
		s.gauge.start = time.Now()
	}
	pid := s.gate.cmd.Process.Pid
	x := sample{at: time.Since(s.gauge.start)}
	x.rss, x.peak = memory(pid)
	x.files, x.opened = s.descriptors(pid)
	m := scrape(s.gate.metrics)
	x.routines, x.heap, x.faults = int(m["go_goroutines"]), m["go_memstats_heap_inuse_bytes"]/1e6, m["decant_faults_total"]
	x.database, x.writeAhead = sizeOf(s.gate.file("d.db")), sizeOf(s.gate.file("d.db-wal"))
	s.tally.mu.Lock()
	x.asked = s.tally.asked
	s.tally.mu.Unlock()
	s.lines.mu.Lock()
	x.lines = len(s.lines.all)
	s.lines.mu.Unlock()
	return x
}

// descriptors counts what the process has open: the files of the database apart, which it opens once more for each of
// those who read at the same time, and keeps.
func (s *soak) descriptors(pid int) (others, database int) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	fds, _ := os.ReadDir(dir)
	for _, fd := range fds {
		if name, _ := os.Readlink(filepath.Join(dir, fd.Name())); strings.HasPrefix(name, s.gate.file("d.db")) {
			database++
		} else {
			others++
		}
	}
	return others, database
}

func sizeOf(name string) float64 {
	fi, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return float64(fi.Size()) / 1e6
}

// memory returns what a process has resident, and its peak, in MB.
func memory(pid int) (rss, peak float64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		kb, _ := strconv.ParseFloat(f[1], 64)
		switch f[0] {
		case "VmRSS:":
			rss = kb * 1024 / 1e6
		case "VmHWM:":
			peak = kb * 1024 / 1e6
		}
	}
	return rss, peak
}

// scrape reads metrics without labels.
func scrape(base string) map[string]float64 {
	out := map[string]float64{}
	res, err := http.Get(base + "/metrics")
	if err != nil {
		return out
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			out[name] = v
		}
	}
	return out
}

// idle returns what the process holds when nobody asks anything: the least of what is seen within ten seconds, or as much longer as it
// takes until that is little enough.
func (s *soak) idle(enough func(*sample) bool) sample {
	s.up.srv.CloseClientConnections()
	http.DefaultClient.CloseIdleConnections()
	best := s.sample()
	for begin, n := time.Now(), 0; n < 20 || !enough(&best) && time.Since(begin) < testkit.Patience; n++ {
		time.Sleep(500 * time.Millisecond)
		x := s.sample()
		best.files, best.routines = min(best.files, x.files), min(best.routines, x.routines)
		best.rss, best.opened = x.rss, x.opened
	}
	return best
}

// print prints a table of about twenty samples.
func (g *gauge) print(t testing.TB, tally *tally) {
	t.Logf("%6s %8s %8s %8s %6s %10s %8s %8s %9s %6s", "time", "RSS MB", "HWM MB", "heap MB", "files", "goroutines", "db MB", "wal MB", "requests", "faults")
	step := max(1, len(g.samples)/24)
	for i := 0; i < len(g.samples); i += step {
		x := &g.samples[i]
		t.Logf("%6.0f %8.1f %8.1f %8.1f %6d %10d %8.1f %8.1f %9d %6.0f", x.at.Seconds(), x.rss, x.peak, x.heap, x.files, x.routines, x.database, x.writeAhead, x.asked, x.faults)
	}
	labels := make([]string, 0, len(tally.counts))
	for l := range tally.counts {
		labels = append(labels, l)
	}
	slices.Sort(labels)
	for _, l := range labels {
		t.Logf("%8d  %s", tally.counts[l], l)
	}
}

// The tolerances. Memory is judged in runs of at least so long: before that it is on its way to its level.
const (
	judgedFrom  = 20 * time.Minute
	memoryGrows = 0.10 // of its mean, by least squares, once it is at its level
	filesMore   = 8
	opensMost   = 2*9 + 1 // nine connections to the database, two files each, and the memory that they share
	routineMore = 8
)

// judge compares what was held at the beginning and at the end.
func (g *gauge) judge(t testing.TB, before, after sample, length time.Duration, race bool) {
	t.Logf("idle before: %d files, %d of the database, %d goroutines, %.1f MB; idle after: %d files, %d of the database, %d goroutines, %.1f MB",
		before.files, before.opened, before.routines, before.rss, after.files, after.opened, after.routines, after.rss)
	if after.files > before.files+filesMore {
		t.Errorf("%d descriptors are left, %d before the long lap", after.files, before.files)
	}
	if after.opened > opensMost {
		t.Errorf("%d descriptors of the database are left", after.opened)
	}
	if after.routines > before.routines+routineMore {
		t.Errorf("%d goroutines are left, %d before the long lap", after.routines, before.routines)
	}
	tail := g.level()
	mean, growth := trend(tail)
	t.Logf("RSS from %.0f s on, with %d conversations: mean %.1f MB, %+.1f MB by least squares (%+.1f %%), most %.1f MB", tail[0].at.Seconds(), tail[0].lines, mean, growth, 100*growth/mean, most(tail))
	if length >= judgedFrom && !race && growth > memoryGrows*mean {
		t.Errorf("memory grows by %.1f MB, more than %.0f %% of %.1f MB", growth, 100*memoryGrows, mean)
	}
}

// kept is how many conversations the engine keeps in memory: until there were so many it takes more with each.
const kept = 1000

// level returns the samples of the last two thirds of the long lap, and of these the ones since memory may be at its
// level, at least the last third.
func (g *gauge) level() []sample {
	long := g.samples[g.begin:]
	from := len(long) / 3
	for from < len(long)*2/3 && long[from].lines < kept {
		from++
	}
	return long[from:]
}

func most(xs []sample) (out float64) {
	for i := range xs {
		out = max(out, xs[i].rss)
	}
	return out
}

// trend returns the mean of memory, and by how much it grows from the first to the last sample by least squares.
func trend(xs []sample) (mean, growth float64) {
	n := float64(len(xs))
	var t, sxy, sxx float64
	for i := range xs {
		mean += xs[i].rss / n
		t += xs[i].at.Seconds() / n
	}
	for i := range xs {
		d := xs[i].at.Seconds() - t
		sxy += d * (xs[i].rss - mean)
		sxx += d * d
	}
	if sxx == 0 {
		return mean, 0
	}
	return mean, sxy / sxx * (xs[len(xs)-1].at - xs[0].at).Seconds()
}
