package front

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o open
		if n := o.wait(time.Hour); n != 0 {
			t.Errorf("%d requests, want none", n)
		}
		leave, stuck := o.enter(), o.enter()
		time.AfterFunc(time.Second, leave)
		begin := time.Now()
		if n, took := o.wait(time.Minute), time.Since(begin); n != 1 || took != time.Minute {
			t.Errorf("%d requests left after %s", n, took)
		}
		time.AfterFunc(time.Second, stuck)
		begin = time.Now()
		if n, took := o.wait(time.Minute), time.Since(begin); n != 0 || took != time.Second {
			t.Errorf("%d requests left after %s", n, took)
		}
	})
}

// Several may wait, and requests may come and go meanwhile.
func TestWaitersAreAllTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o open
		var waiting sync.WaitGroup
		leave := o.enter()
		for range 3 {
			waiting.Go(func() {
				if n := o.wait(time.Hour); n != 0 {
					t.Errorf("%d requests left", n)
				}
			})
		}
		synctest.Wait()
		next := o.enter()
		leave()
		next()
		waiting.Wait()
	})
}
