package doctor

import "context"

// summary finds out whether the model that writes records can be asked. Where it cannot, records are extractive.
func (x *examination) summary(ctx context.Context) {
	s := &x.Config.Summary
	if s.Client && s.Enabled() {
		x.say(note, "summary", "calls about a conversation may be made with its client's credential, which is kept in memory only")
	}
	if !s.Configured() || x.Summary == nil {
		return
	}
	model, err := x.Summary(ctx)
	if err != nil {
		x.say(worry, "summary", "%s at %s: %v; until it can be asked, records are extractive", model, s.Destination(), err)
		return
	}
	if m, _ := x.Catalog.Lookup(model); m.Retirement(x.Now()) != "" {
		x.say(worry, "summary", "%s; it writes records: choose another, decant models lists them", m.Retirement(x.Now()))
		return
	}
	x.say(fine, "summary", "%s at %s writes records", model, s.Destination())
}
