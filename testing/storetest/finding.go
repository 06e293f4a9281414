package storetest

import (
	"time"

	"github.com/decantdev/decant/store"
)

var findingTests = []test{
	{"NewestOfEachTopicStays", func(b *bench) {
		f := store.Finding{Upstream: "https://a", Organization: "org", Topic: "binding", Value: "enforced", Time: epoch}
		later := f
		later.Value, later.Time = "open", epoch.Add(time.Hour)
		other := store.Finding{Upstream: "https://a", Organization: "org", Topic: "editing", Value: "refused", Time: epoch}
		b.find(later, f, other) // the older one came late
		b.reopen()
		b.equal("findings", b.findings("https://a", "org"), []store.Finding{later, other})
		again := f
		again.Time = epoch.Add(2 * time.Hour)
		b.find(again)
		b.equal("after a newer one", b.findings("https://a", "org"), []store.Finding{again, other})
	}},
	{"AreOfOneAccount", func(b *bench) {
		f := store.Finding{Upstream: "https://a", Organization: "", Topic: "binding", Value: "enforced", Time: epoch}
		b.find(f)
		b.equal("another upstream", b.findings("https://b", ""), []store.Finding(nil))
		b.equal("another account", b.findings("https://a", "org"), []store.Finding(nil))
		b.equal("its own", b.findings("https://a", ""), []store.Finding{f})
	}},
}

func (b *bench) find(fs ...store.Finding) {
	b.Helper()
	if err := b.Find(b.ctx, fs...); err != nil {
		b.Fatalf("find: %v", err)
	}
}

func (b *bench) findings(upstream, organization string) []store.Finding {
	b.Helper()
	fs, err := b.Findings(b.ctx, upstream, organization)
	if err != nil {
		b.Fatalf("findings: %v", err)
	}
	return fs
}
