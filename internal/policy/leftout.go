package policy

import "github.com/decantdev/decant"

// Effective returns those of ds that make the view smaller, and the records that go with them: the newest
// checkpoint that was not taken back, and edits of blocks that it does not cover. The savings of several
// edits of one block add up, because each starts from the result of the one before. Before and After of a
// checkpoint are those of its range and of its summary.
func Effective(ds []decant.Decision) (out []decant.Decision) {
	effective(func(d *decant.Decision) {
		out = append(out, *d)
		if cp := d.Checkpoint; cp != nil {
			last := &out[len(out)-1]
			last.Before, last.After = cp.Original, cp.Compressed
		}
	}, ds)
	return out
}

// LeftOut returns how many tokens of a conversation its view under the decisions of lists lacks now, as they estimate
// it. Each counts once: of checkpoints the newest one that was not taken back, and no edit of what it covers. It is
// what the ledger, the report, the plans, the log and the metrics call left out.
func LeftOut(lists ...[]decant.Decision) (n int) {
	effective(func(d *decant.Decision) {
		if cp := d.Checkpoint; cp != nil {
			n += cp.Original - cp.Compressed
			return
		}
		n += d.Before - d.After
	}, lists...)
	return max(0, n)
}

// effective calls see with every decision that makes the view smaller, and the records that go with them, the
// newest list last.
func effective(see func(*decant.Decision), lists ...[]decant.Decision) {
	revoked := map[string]bool{}
	each := func(do func(*decant.Decision)) {
		for _, ds := range lists {
			for i := range ds {
				do(&ds[i])
			}
		}
	}
	each(func(d *decant.Decision) {
		if d.Kind == decant.Revoke {
			revoked[d.Revokes] = true
		}
	})
	var cover *decant.Checkpoint
	each(func(d *decant.Decision) {
		if d.Kind == decant.Cover && !revoked[d.ID] {
			cover = d.Checkpoint
		}
	})
	each(func(d *decant.Decision) {
		switch {
		case revoked[d.ID]:
		case d.Kind == decant.Cover && cover != nil && d.Checkpoint == cover,
			(d.Kind.Edits() || d.Kind == decant.Insert) && !cover.Covers(d.Target.Message):
			see(d)
		}
	})
}
