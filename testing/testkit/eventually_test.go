package testkit

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// A failing is a test that only notes that it has failed.
type failing struct {
	testing.TB
	failed bool
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(string, ...any) {
	f.failed = true
	runtime.Goexit()
}

func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, looks := time.Now(), 0
		Eventually(t, "a minute", func() bool { looks++; return time.Since(begun) >= time.Minute })
		if waited := time.Since(begun); waited > time.Minute+often || looks < 2 {
			t.Errorf("waited %v, looked %d times", waited, looks)
		}
		c := make(chan int)
		go func() { time.Sleep(time.Minute); c <- 7 }()
		if got := Received(t, "a number", c); got != 7 {
			t.Errorf("received %d", got)
		}
		close(c)
		if got := Received(t, "the end", c); got != 0 {
			t.Errorf("received %d of a closed channel", got)
		}
	})
}

func TestGivesUp(t *testing.T) {
	for name, wait := range map[string]func(testing.TB){
		"True":     func(t testing.TB) { Eventually(t, "never", func() bool { return false }) },
		"Received": func(t testing.TB) { Received(t, "never", make(chan int)) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, f, done := time.Now(), &failing{TB: t}, make(chan bool)
				go func() { defer close(done); wait(f) }()
				<-done
				if waited := time.Since(begun); !f.failed || waited < Patience {
					t.Errorf("failed %v after %v", f.failed, waited)
				}
			})
		})
	}
}
