package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/decantdev/decant/memory"
	"github.com/decantdev/decant/store"
)

var memoryTests = []test{
	{"KeepsAll", func(b *bench) {
		it := b.item("m:1", memory.Scope{Level: memory.Project, Name: "/src/decant"}, "tests run with go test \u2028 ./...", "conv")
		b.begun("", "other")
		it.Confirmations, it.Times = []memory.Confirmation{
			{Source: memory.Source{Conversation: "other", From: 4, To: 9}, Evidence: "run go test", Time: epoch.Add(time.Hour)},
			{Source: memory.Source{}, Evidence: "again \xff", Time: epoch.Add(2 * time.Hour)},
		}, 7
		it.Kind, it.Source.From, it.Source.To = memory.KindObservation, 3, 5
		it.Confirmed, it.Escalated = epoch.Add(2*time.Hour), epoch.Add(3*time.Hour)
		it.Archived, it.Restored = epoch.Add(4*time.Hour), epoch.Add(5*time.Hour)
		it.Became, it.From = "m:2", "m:0"
		it.Extra = `{"why":"it failed \u001e once"}` + "\x1e\n"
		b.revise("", it.Scope, add(it))
		b.reopen()
		b.equal("item", b.memories(store.MemoryQuery{}), []memory.Item{it})
	}},
	{"Revise", revisions},
	{"ReviseIsAllOrNothing", func(b *bench) {
		user := memory.Scope{Level: memory.User}
		it := b.item("m:1", user, "likes short answers", "conv")
		b.revise("", user, add(it))
		no := errors.New("no")
		if err := b.Revise(b.ctx, "", user, func([]memory.Item) ([]memory.Item, error) { return nil, no }); !errors.Is(err, no) {
			b.Errorf("do's error: got %v", err)
		}
		elsewhere := b.item("m:1", memory.Scope{Level: memory.User, Name: "other"}, "the id is taken", "conv")
		fresh := b.item("m:2", elsewhere.Scope, "would be new", "conv")
		if err := b.Revise(b.ctx, "", elsewhere.Scope, add(fresh, elsewhere)); !errors.Is(err, store.ErrConflict) {
			b.Errorf("an id of another scope: got %v, want ErrConflict", err)
		}
		if err := b.Revise(b.ctx, "", elsewhere.Scope, add(b.item("m:3", user, "of the other scope", "conv"))); !errors.Is(err, store.ErrInvalid) {
			b.Errorf("an item of another scope: got %v, want ErrInvalid", err)
		}
		b.equal("nothing has changed", b.memories(store.MemoryQuery{}), []memory.Item{it})
	}},
	{"Query", memoryQueries},
	{"SavedByTwoAtOnceIsOne", savedAtOnce},
	{"AnyLifeIsKept", anyLife},
	{"ComeFromAConversationThatThereIs", func(b *bench) {
		user := memory.Scope{Level: memory.User}
		it := b.item("m:1", user, "known from here", "conv")
		b.revise("", user, add(it))
		late := it
		late.ID, late.Source.Conversation = "m:2", "forgotten meanwhile"
		if err := b.Revise(b.ctx, "", user, add(late)); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("an item of a conversation that there is not: got %v, want ErrNotFound", err)
		}
		again := memory.Confirm(it, memory.Confirmation{Source: late.Source, Evidence: "again", Time: epoch})
		if err := b.Revise(b.ctx, "", user, func([]memory.Item) ([]memory.Item, error) { return []memory.Item{again}, nil }); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("a confirmation there: got %v, want ErrNotFound", err)
		}
		if err := b.Revise(b.ctx, "bob", user, add(it)); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("an item of another tenant's conversation: got %v, want ErrNotFound", err)
		}
		b.gc(store.Policy{Now: epoch.Add(2 * month), MaxAge: month})
		later := epoch.Add(3 * month)
		b.revise("", user, memory.Update(it.ID, func(it memory.Item) (memory.Item, error) { return memory.Archive(it, later) }))
		if got := b.memories(store.MemoryQuery{Archived: true}); len(got) != 1 || got[0].State() != memory.Archived {
			b.Errorf("what stays of a collected conversation has not changed: %+v", got)
		}
	}},
	{"AreOfOneTenant", func(b *bench) {
		user := memory.Scope{Level: memory.User}
		mine, yours := b.item("m:1", user, "mine", ""), b.item("m:1", user, "yours", "")
		b.revise("alice", user, add(mine))
		b.revise("bob", user, add(yours))
		b.equal("alice", b.memories(store.MemoryQuery{Tenant: "alice"}), []memory.Item{mine})
		b.equal("bob", b.memories(store.MemoryQuery{Tenant: "bob", Scopes: []memory.Scope{user}}), []memory.Item{yours})
		b.equal("nobody", b.memories(store.MemoryQuery{}), []memory.Item(nil))
		tenants, err := b.Tenants(b.ctx)
		b.equal("tenants", tenants, []string{"alice", "bob"})
		b.equal("error", err, error(nil))
		b.forget(store.Forgetting{Tenant: "alice"})
		b.equal("alice, forgotten", b.memories(store.MemoryQuery{Tenant: "alice"}), []memory.Item(nil))
		b.equal("bob stays", b.memories(store.MemoryQuery{Tenant: "bob"}), []memory.Item{yours})
	}},
	{"GCEndsTheScopeOfAConversation", func(b *bench) {
		l := b.talk("s", "hello")
		own := b.item("m:1", memory.Scope{Level: memory.Conversation, Name: l.ID}, "only here", l.ID)
		project := b.item("m:2", memory.Scope{Level: memory.Project, Name: "p"}, "everywhere in the project", l.ID)
		b.revise("", own.Scope, add(own))
		b.revise("", project.Scope, add(project))
		c := b.gc(store.Policy{Now: epoch.Add(2 * month), MaxAge: month})
		if c.Memories != 1 {
			b.Errorf("collected %d memories, want the one of the conversation", c.Memories)
		}
		b.equal("what is left", b.memories(store.MemoryQuery{}), []memory.Item{project})
		b.sound()
	}},
	{"ForgottenWithTheConversation", forgotten},
	{"OutlivesItsConversation", remembered},
	{"ForgottenByID", func(b *bench) {
		l, user := b.talk("s", "hello"), memory.Scope{Level: memory.User}
		one, two := b.item("m:1", user, "the first thing to remember", l.ID), b.item("m:2", user, "and what else there is", l.ID)
		b.revise("", user, add(one, two))
		f := store.Forgetting{Memories: []string{one.ID}, DryRun: true}
		if c := b.forget(f); c.Memories != 1 || len(c.Conversations) != 0 {
			b.Errorf("a dry run reports %+v, want one memory", c)
		}
		f.DryRun = false
		if c := b.forget(f); c.Memories != 1 || c.Proof != nil && c.Proof.Pieces == 0 {
			b.Errorf("collected %+v, want one memory and a proof", c)
		}
		b.equal("what is left", b.memories(store.MemoryQuery{}), []memory.Item{two})
		l.load(store.Newest)
		if _, err := b.Forget(b.ctx, f); !errors.Is(err, store.ErrNotFound) {
			b.Errorf("forget it again: got %v, want ErrNotFound", err)
		}
	}},
}

// item returns an item as memory.New makes it, of a conversation that exists among those of tenant "".
func (b *bench) item(id string, at memory.Scope, text, conversation string) memory.Item {
	b.Helper()
	b.begun("", conversation)
	it, err := memory.New(id, memory.KindMemory, at, text, memory.Source{Conversation: conversation, From: 1, To: 2}, epoch)
	if err != nil {
		b.Fatal(err)
	}
	return it
}

// begun begins conversations that there are not yet.
func (b *bench) begun(tenant string, ids ...string) {
	b.Helper()
	for _, id := range ids {
		if _, err := b.Version(b.ctx, store.Key{Tenant: tenant, ID: id}); id == "" || err == nil {
			continue
		}
		l := b.line(tenant, "session of "+id)
		l.ID = id
		l.must(l.say("a beginning"))
	}
}

// add returns what adds items to a scope as they are.
func add(items ...memory.Item) func([]memory.Item) ([]memory.Item, error) {
	return func(have []memory.Item) ([]memory.Item, error) { return append(have, items...), nil }
}

func (b *bench) revise(tenant string, at memory.Scope, do func([]memory.Item) ([]memory.Item, error)) {
	b.Helper()
	if err := b.Revise(b.ctx, tenant, at, do); err != nil {
		b.Fatalf("revise %s: %v", at, err)
	}
}

func (b *bench) memories(q store.MemoryQuery) []memory.Item {
	b.Helper()
	items, err := b.Memories(b.ctx, q)
	if err != nil {
		b.Fatalf("memories: %v", err)
	}
	return items
}

// revisions guards that a scope has what do returns, and that do gets what it has, oldest first.
func revisions(b *bench) {
	scope, other := memory.Scope{Level: memory.Project, Name: "p"}, memory.Scope{Level: memory.User, Name: "p"}
	old, young := b.item("m:b", scope, "old", "conv"), b.item("m:a", scope, "young", "conv")
	young.Created, young.Confirmed = epoch.Add(time.Hour), epoch.Add(time.Hour)
	stays := b.item("m:c", other, "of another scope", "conv")
	b.begun("", "later")
	b.revise("", scope, add(young, old))
	b.revise("", other, add(stays))
	b.revise("", scope, func(have []memory.Item) ([]memory.Item, error) {
		b.equal("what do gets", have, []memory.Item{old, young})
		have[1] = memory.Confirm(have[1], memory.Confirmation{Source: memory.Source{Conversation: "later"}, Evidence: "young again", Time: epoch.Add(2 * time.Hour)})
		return have[1:], nil
	})
	b.reopen()
	got := b.memories(store.MemoryQuery{Scopes: []memory.Scope{scope}})
	if len(got) != 1 || got[0].ID != young.ID || got[0].Times != 1 || len(got[0].Confirmations) != 1 || !got[0].Confirmed.Equal(epoch.Add(2*time.Hour)) {
		b.Errorf("after a revision: %+v; want the younger one, confirmed once", got)
	}
	b.equal("the other scope", b.memories(store.MemoryQuery{Scopes: []memory.Scope{other}}), []memory.Item{stays})
	b.revise("", scope, func([]memory.Item) ([]memory.Item, error) { return nil, nil })
	b.equal("an empty scope", b.memories(store.MemoryQuery{Scopes: []memory.Scope{scope}, Archived: true}), []memory.Item(nil))
	b.sound()
}

func memoryQueries(b *bench) {
	user, project := memory.Scope{Level: memory.User}, memory.Scope{Level: memory.Project, Name: "p"}
	first, second, gone := b.item("m:aa1", user, "first", "c1"), b.item("m:aa2", project, "second", "c2"), b.item("m:b", project, "gone", "c1")
	first.Confirmations, first.Times = []memory.Confirmation{{Source: memory.Source{Conversation: "c2"}, Evidence: "first", Time: epoch}}, 1
	first.Confirmed = epoch.Add(time.Hour)
	gone.Archived, gone.Confirmed = epoch.Add(time.Minute), epoch.Add(2*time.Hour)
	b.revise("", user, add(first))
	b.revise("", project, add(second, gone))
	for _, c := range []struct {
		name string
		q    store.MemoryQuery
		want []memory.Item
	}{
		{"LastConfirmedFirst", store.MemoryQuery{}, []memory.Item{first, second}},
		{"Archived", store.MemoryQuery{Archived: true}, []memory.Item{gone, first, second}},
		{"Scope", store.MemoryQuery{Scopes: []memory.Scope{project}}, []memory.Item{second}},
		{"Scopes", store.MemoryQuery{Scopes: []memory.Scope{project, user}}, []memory.Item{first, second}},
		{"NoScope", store.MemoryQuery{Scopes: []memory.Scope{}}, nil},
		{"Name", store.MemoryQuery{Name: "m:aa", Archived: true}, []memory.Item{first, second}},
		{"WildcardsAreLetters", store.MemoryQuery{Name: "%"}, nil},
		{"Conversation", store.MemoryQuery{Conversation: "c2"}, []memory.Item{first, second}},
		{"SourceAlone", store.MemoryQuery{Conversation: "c1"}, []memory.Item{first}},
		{"Limit", store.MemoryQuery{Limit: 1}, []memory.Item{first}},
		{"LimitOfScopes", store.MemoryQuery{Scopes: []memory.Scope{project, user}, Limit: 1}, []memory.Item{first}},
		{"OtherTenant", store.MemoryQuery{Tenant: "other", Archived: true}, nil},
	} {
		b.equal(c.name, b.memories(c.q), c.want)
	}
}

// savedAtOnce guards that a revision sees what the one before it has written, also in another process.
func savedAtOnce(b *bench) {
	const each = 10
	stores, user := []store.Store{b.Store, b.another()}, memory.Scope{Level: memory.User}
	var wait sync.WaitGroup
	for i := range 2 * each {
		it := b.item(fmt.Sprintf("m:%02d", i), user, "Prefers dark mode.", fmt.Sprintf("conv %d", i))
		wait.Go(func() {
			if err := stores[i%2].Revise(b.ctx, "", user, memory.Save(it)); err != nil {
				b.Errorf("save %s: %v", it.ID, err)
			}
		})
	}
	wait.Wait()
	if got := b.memories(store.MemoryQuery{}); len(got) != 1 || got[0].Times != 2*each-1 {
		b.Errorf("saved %d times at once: %+v; want one item that was confirmed by all others", 2*each, got)
	}
	b.sound()
}

// forgotten guards that with a conversation all goes that is known from it, and that what others have confirmed goes on
// in their words.
func forgotten(b *bench) {
	l, k := b.talk("s", "hello"), b.talk("t", "hi")
	user, own := memory.Scope{Level: memory.User}, memory.Scope{Level: memory.Conversation, Name: l.ID}
	alone := b.item("m:1", user, "known from the forgotten conversation alone", l.ID)
	here := b.item("m:2", own, "of the scope of the forgotten conversation", k.ID)
	both := memory.Confirm(b.item("m:3", user, "said in the words of the forgotten one", l.ID),
		memory.Confirmation{Source: memory.Source{Conversation: k.ID}, Evidence: "said in the words of the other one", Time: epoch.Add(time.Hour)})
	heard := memory.Confirm(b.item("m:4", user, "known from the other conversation", k.ID),
		memory.Confirmation{Source: memory.Source{Conversation: l.ID}, Evidence: "confirmed by the forgotten one", Time: epoch.Add(time.Hour)})
	b.revise("", user, add(alone, both, heard))
	b.revise("", own, add(here))
	f := store.Forgetting{Conversations: []string{l.ID}, DryRun: true}
	if c := b.forget(f); c.Memories != 2 {
		b.Errorf("a dry run reports %d memories, want 2", c.Memories)
	}
	f.DryRun = false
	if c := b.forget(f); c.Memories != 2 {
		b.Errorf("forgot %d memories, want 2", c.Memories)
	}
	got := b.memories(store.MemoryQuery{Archived: true})
	slices.SortFunc(got, func(x, y memory.Item) int { return x.Created.Compare(y.Created) })
	if len(got) != 2 || got[0].ID != heard.ID || got[1].ID != both.ID {
		b.Fatalf("left are %+v; want the two that the other conversation knows", got)
	}
	if got[0].Times != 0 || len(got[0].Confirmations) != 0 || got[1].Text != "said in the words of the other one" || got[1].Source.Conversation != k.ID {
		b.Errorf("left is %+v; want nothing of the forgotten conversation", got)
	}
	b.equal("nothing names it", b.memories(store.MemoryQuery{Conversation: l.ID, Archived: true}), []memory.Item(nil))
	b.sound()
}

// remembered guards that a conversation can be forgotten without what is known from it, but for what holds in it alone.
func remembered(b *bench) {
	l := b.talk("s", "hello")
	user, own := memory.Scope{Level: memory.User}, memory.Scope{Level: memory.Conversation, Name: l.ID}
	stays, goes := b.item("m:1", user, "prefers tabs", l.ID), b.item("m:2", own, "of the scope of the conversation", l.ID)
	b.revise("", user, add(stays))
	b.revise("", own, add(goes))
	if c := b.forget(store.Forgetting{Conversations: []string{l.ID}, KeepMemories: true}); len(c.Conversations) != 1 || c.Memories != 1 {
		b.Errorf("forgot %d conversations and %d memories, want one of each", len(c.Conversations), c.Memories)
	}
	b.equal("left", b.memories(store.MemoryQuery{Archived: true}), []memory.Item{stays})
	b.sound()
}

// anyLife lets items of several scopes live, and compares what the store has with what the functions of package memory
// make of it without a store.
func anyLife(b *bench) {
	runs := 0
	rapid.Check(b.T, func(t *rapid.T) {
		runs++
		tenant, now, ids := fmt.Sprint("run ", runs), epoch, 0
		b.begun(tenant, "a", "b")
		scopes := []memory.Scope{{Level: memory.User}, {Level: memory.Project, Name: "p"}, {Level: memory.Conversation, Name: "c"}}
		want := map[memory.Scope][]memory.Item{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			at, do := rapid.SampledFrom(scopes).Draw(t, "scope"), drawStep(b, t, &ids, &now)
			next, failed := do(at, want[at])
			err := b.Revise(b.ctx, tenant, at, func(have []memory.Item) ([]memory.Item, error) { return do(at, have) })
			if (err == nil) != (failed == nil) {
				t.Fatalf("revise: %v, without a store: %v", err, failed)
			}
			if failed == nil {
				want[at] = next
			}
		}
		for at, items := range want {
			got := b.memories(store.MemoryQuery{Tenant: tenant, Scopes: []memory.Scope{at}, Archived: true})
			byID := func(x, y memory.Item) int { return strings.Compare(x.ID, y.ID) }
			slices.SortFunc(got, byID)
			slices.SortFunc(items, byID)
			if d := cmp.Diff(items, got, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("%s (-want +got):\n%s", at, d)
			}
		}
	})
	b.sound()
}

// drawStep returns one thing that happens in a scope, the same whenever it is called.
func drawStep(b *bench, t *rapid.T, ids *int, now *time.Time) func(memory.Scope, []memory.Item) ([]memory.Item, error) {
	*now = now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "minutes")) * time.Minute)
	*ids++
	id, when, nth := fmt.Sprintf("m:%03d", *ids), *now, rapid.IntRange(0, 3).Draw(t, "nth")
	text := rapid.SampledFrom([]string{"prefers tabs", "the user prefers tabs", "prefers spaces", "uses port 8080"}).Draw(t, "text")
	from := memory.Source{Conversation: rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "conversation"), From: nth}
	what := rapid.SampledFrom([]string{"save", "save", "archive", "restore", "remove"}).Draw(t, "what")
	return func(at memory.Scope, have []memory.Item) ([]memory.Item, error) {
		if what == "save" {
			it, err := memory.New(id, memory.KindMemory, at, text, from, when)
			if err != nil {
				b.Fatal(err)
			}
			return memory.Save(it)(have)
		}
		if nth >= len(have) {
			return have, nil
		}
		switch what {
		case "archive":
			return memory.Update(have[nth].ID, func(it memory.Item) (memory.Item, error) { return memory.Archive(it, when) })(have)
		case "restore":
			return memory.Update(have[nth].ID, func(it memory.Item) (memory.Item, error) { return memory.Restore(it, when) })(have)
		}
		return slices.Delete(slices.Clone(have), nth, nth+1), nil
	}
}
