package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/decantdev/decant/store"
)

var journalTests = []test{
	{"KeepsStepsInOrder", journalKept},
	{"OfManyAtOnceOneAdds", journalRace},
	{"Selects", journalsSelected},
	{"DropsOne", journalDropped},
	{"GoesWithItsConversation", journalForgotten},
	{"IsCollectedWithItsConversation", journalCollected},
	{"OldOnesOfAConversationThatIsGoneAreCollected", journalStale},
	{"AnyAdditions", journalModel},
}

// add adds steps to a journal.
func (b *bench) add(id string, length int, steps ...string) error {
	a := &store.Addition{Key: store.Key{ID: id}, Length: length, Kind: "session", Time: epoch.Add(time.Duration(length) * time.Minute)}
	for _, s := range steps {
		a.Steps = append(a.Steps, []byte(s))
	}
	return b.AddSteps(b.ctx, a)
}

// must ends the test with an error.
func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// steps returns the steps of a journal as text.
func (b *bench) steps(id string, after, limit int) (out []string) {
	b.Helper()
	all, err := b.Steps(b.ctx, store.Key{ID: id}, after, limit)
	b.must(err)
	for _, s := range all {
		out = append(out, string(s))
	}
	return out
}

// journalKept guards that what was added is there after a restart, and that nobody adds to what he has not seen.
func journalKept(b *bench) {
	long := string(bytes.Repeat([]byte("a long step "), 10_000))
	b.must(b.add("j", 0, "one", long))
	b.must(b.add("j", 2, "", "four"))
	for _, length := range []int{0, 1, 3, 5} {
		if err := b.add("j", length, "late"); !errors.Is(err, store.ErrConflict) {
			b.Errorf("add to %d steps: %v, want ErrConflict", length, err)
		}
	}
	if err := b.add("nowhere", 1, "late"); !errors.Is(err, store.ErrNotFound) {
		b.Errorf("add to an unknown journal: %v, want ErrNotFound", err)
	}
	if err := b.add("empty", 0); !errors.Is(err, store.ErrInvalid) {
		b.Errorf("begin without a step: %v, want ErrInvalid", err)
	}
	b.reopen()
	b.equal("all", b.steps("j", 0, 0), []string{"one", long, "", "four"})
	b.equal("some", b.steps("j", 1, 2), []string{long, ""})
	b.equal("none", b.steps("j", 4, 0), []string(nil))
	j, err := b.Journal(b.ctx, store.Key{ID: "j"})
	b.must(err)
	b.equal("journal", *j, store.Journal{Key: store.Key{ID: "j"}, Kind: "session", Head: []byte{}, Length: 4, Created: epoch, Updated: epoch.Add(2 * time.Minute)})
	b.must(b.AddSteps(b.ctx, &store.Addition{Key: j.Key, Length: 1, Head: []byte("title"), Conversation: "c", Time: epoch}))
	j, err = b.Journal(b.ctx, j.Key)
	b.must(err)
	b.equal("head", *j, store.Journal{Key: j.Key, Kind: "session", Conversation: "c", Head: []byte("title"), Length: 4, Created: epoch, Updated: epoch.Add(2 * time.Minute)})
	if _, err := b.Journal(b.ctx, store.Key{Tenant: "other", ID: "j"}); !errors.Is(err, store.ErrNotFound) {
		b.Errorf("journal of another tenant: %v, want ErrNotFound", err)
	}
	b.sound()
}

// journalRace guards that of several who go on with a session at the same step one does.
func journalRace(b *bench) {
	b.must(b.add("j", 0, "begin"))
	stores := []store.Store{b.Store, b.another()}
	for length := 1; length < 6; length++ {
		var won atomic.Int32
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				err := stores[i%2].AddSteps(b.ctx, &store.Addition{Key: store.Key{ID: "j"}, Length: length, Steps: [][]byte{fmt.Append(nil, i)}})
				switch {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, store.ErrConflict):
					b.Errorf("add: %v", err)
				}
			})
		}
		all.Wait()
		b.equal("added", int(won.Load()), 1)
	}
	b.equal("steps", len(b.steps("j", 0, 0)), 6)
}

// journalsSelected guards what a query selects, and the order.
func journalsSelected(b *bench) {
	for i, id := range []string{"ab", "aa", "b%"} {
		b.must(b.AddSteps(b.ctx, &store.Addition{Key: store.Key{ID: id}, Time: epoch.Add(time.Duration(i) * time.Hour), Steps: [][]byte{{1}}}))
	}
	b.must(b.AddSteps(b.ctx, &store.Addition{Key: store.Key{Tenant: "other", ID: "x"}, Kind: "agent", Time: epoch, Steps: [][]byte{{1}}}))
	for _, c := range []struct {
		name string
		q    store.JournalQuery
		want []string
	}{
		{"All", store.JournalQuery{}, []string{"b%", "aa", "ab"}},
		{"Name", store.JournalQuery{Name: "a"}, []string{"aa", "ab"}},
		{"WildcardsAreLetters", store.JournalQuery{Name: "%"}, nil},
		{"Before", store.JournalQuery{Before: epoch.Add(time.Hour)}, []string{"ab"}},
		{"Limit", store.JournalQuery{Limit: 1}, []string{"b%"}},
		{"Tenant", store.JournalQuery{Tenant: "other"}, []string{"x"}},
		{"Kind", store.JournalQuery{Tenant: "other", Kind: "agent"}, []string{"x"}},
		{"OtherKind", store.JournalQuery{Tenant: "other", Kind: "session"}, nil},
	} {
		js, err := b.Journals(b.ctx, c.q)
		b.must(err)
		var got []string
		for _, j := range js {
			got = append(got, j.ID)
		}
		b.equal(c.name, got, c.want)
	}
	tenants, err := b.Tenants(b.ctx)
	b.must(err)
	b.equal("tenants", tenants, []string{"", "other"})
}

// journalDropped guards that a journal that was removed is gone with its steps, and that its id can be used anew.
func journalDropped(b *bench) {
	b.must(b.add("j", 0, "one", "two"))
	b.must(b.DropJournal(b.ctx, store.Key{ID: "j"}))
	if _, err := b.Steps(b.ctx, store.Key{ID: "j"}, 0, 0); !errors.Is(err, store.ErrNotFound) {
		b.Errorf("steps of what was removed: %v, want ErrNotFound", err)
	}
	if err := b.DropJournal(b.ctx, store.Key{ID: "j"}); !errors.Is(err, store.ErrNotFound) {
		b.Errorf("remove it again: %v, want ErrNotFound", err)
	}
	b.must(b.add("j", 0, "new"))
	b.equal("steps", b.steps("j", 0, 0), []string{"new"})
	b.sound()
}

// journaled begins journals of conversations; no conversation: of none.
func (b *bench) journaled(of map[string]string) {
	b.Helper()
	for id, conversation := range of {
		b.must(b.AddSteps(b.ctx, &store.Addition{Key: store.Key{ID: id}, Conversation: conversation, Time: epoch,
			Steps: [][]byte{[]byte("what only the journal " + id + " says")}}))
	}
}

// left returns the ids of the journals that there are.
func (b *bench) left() map[string]bool {
	b.Helper()
	js, err := b.Journals(b.ctx, store.JournalQuery{})
	b.must(err)
	out := map[string]bool{}
	for _, j := range js {
		out[j.ID] = true
	}
	return out
}

// journalForgotten guards that a journal does not keep what was to be forgotten.
func journalForgotten(b *bench) {
	l, k := b.talk("s", "hello"), b.talk("t", "hi")
	b.journaled(map[string]string{"of it": l.ID, "of another": k.ID, "of none": ""})
	if c := b.forget(store.Forgetting{Conversations: []string{l.ID}, DryRun: true}); c.Journals != 1 {
		b.Errorf("a dry run reports %d journals, want 1", c.Journals)
	}
	b.equal("left by a dry run", len(b.left()), 3)
	c := b.forget(store.Forgetting{Conversations: []string{l.ID}})
	b.equal("forgotten", c.Journals, 1)
	b.equal("left", b.left(), map[string]bool{"of another": true, "of none": true})
	c = b.forget(store.Forgetting{})
	b.equal("forgotten with everything", c.Journals, 2)
	b.equal("nothing is left", b.left(), map[string]bool{})
	b.sound()
}

// journalCollected guards that a journal lasts as long as its conversation.
func journalCollected(b *bench) {
	l, k := b.talk("s", "hello"), b.talk("t", "hi")
	k.must(k.say("once more", "and again"))
	b.journaled(map[string]string{"of the old one": l.ID, "of the new one": k.ID})
	c := b.gc(store.Policy{MaxAge: time.Minute, Now: l.time.Add(time.Minute + time.Second)})
	b.equal("collected", c.Journals, 1)
	b.equal("left", b.left(), map[string]bool{"of the new one": true})
}

// journalStale guards that what was never sent does not stay for ever, and that nothing goes where no age is set.
func journalStale(b *bench) {
	b.journaled(map[string]string{"j": "gone", "of something else": ""})
	for _, p := range []struct {
		store.Policy
		want int
	}{
		{store.Policy{Size: 1}, 0},
		{store.Policy{MaxAge: time.Hour, Now: epoch.Add(time.Minute)}, 0},
		{store.Policy{MaxAge: time.Hour, Now: epoch.Add(2 * time.Hour), Tenant: "other"}, 0},
		{store.Policy{MaxAge: time.Hour, Now: epoch.Add(2 * time.Hour), DryRun: true}, 1},
		{store.Policy{MaxAge: time.Hour, Now: epoch.Add(2 * time.Hour)}, 1},
	} {
		c := b.gc(p.Policy)
		b.equal(fmt.Sprintf("collected by %+v", p.Policy), c.Journals, p.want)
	}
	b.equal("left", b.left(), map[string]bool{"of something else": true})
}

// journalModel compares journals with lists.
func journalModel(b *bench) {
	runs := 0
	rapid.Check(b.T, func(t *rapid.T) {
		runs++
		tenant := fmt.Sprint("run ", runs)
		want := map[string][][]byte{}
		for range rapid.IntRange(1, 12).Draw(t, "additions") {
			id := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "journal")
			length := max(0, len(want[id])+rapid.SampledFrom([]int{0, 0, 0, -1, 1}).Draw(t, "off by"))
			steps := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 300), 0, 3).Draw(t, "steps")
			err := b.AddSteps(b.ctx, &store.Addition{Key: store.Key{Tenant: tenant, ID: id}, Length: length, Steps: steps})
			fits := length == len(want[id]) && (length > 0 || len(steps) > 0) || length > 0 && len(want[id]) > 0 && len(steps) == 0
			if (err == nil) != fits {
				t.Fatalf("add %d steps to %d of %d: %v", len(steps), length, len(want[id]), err)
			}
			if err == nil {
				want[id] = append(want[id], steps...)
			}
		}
		for id, steps := range want {
			got, err := b.Steps(b.ctx, store.Key{Tenant: tenant, ID: id}, 0, 0)
			if err != nil || len(got) != len(steps) {
				t.Fatalf("journal %s: %d steps, %v; want %d", id, len(got), err, len(steps))
			}
			for i := range got {
				if !bytes.Equal(got[i], steps[i]) {
					t.Fatalf("journal %s, step %d: %x, want %x", id, i+1, got[i], steps[i])
				}
			}
		}
	})
	b.sound()
}
