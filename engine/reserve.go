package engine

import "context"

// reserve holds back what a prepared request may cost at most. It returns a *BudgetError when a budget
// does not have that much left. When only other requests under way stand in its way, which will cost
// less than is held back for them, it waits for them to end, as long as optional work may take.
func (e *Engine) reserve(ctx context.Context, p *Prepared) error {
	if p.ticket == nil || len(e.budgets(p.ticket.req)) == 0 || p.ticket.req.Count || e.mode(p.ticket.req) == Observe {
		return nil
	}
	a, now := p.ticket, e.opts.Now()
	r := reservation{amount: a.worst(now), tenant: a.req.Tenant, conversation: p.Conversation, until: now.Add(reservationLife)}
	return e.holdBack(ctx, a.req, r)
}

// holdBack makes a reservation, and waits as long as only others under way stand in its way.
func (e *Engine) holdBack(ctx context.Context, key *Request, r reservation) error {
	patience, cancel := e.waiting(e.patient(ctx, forced{}))
	defer cancel()
	for {
		ended, err := e.tryReserve(ctx, key, r)
		if ended == nil {
			return err
		}
		if !e.settles(patience, ended) {
			return err
		}
	}
}

// settles waits for the end of a reservation, and reports false when the context ends before. A request
// that was answered is settled when it is archived, so archives do not wait for this one.
func (e *Engine) settles(ctx context.Context, ended <-chan struct{}) bool {
	e.pending.flush()
	e.traffic.leave()
	defer e.traffic.enter()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}

// tryReserve makes a reservation or returns why not; if it may be possible later, with a channel that
// tells when. Far from the limits what is remembered will do; near them what is booked is read, before the purse is
// locked.
func (e *Engine) tryReserve(ctx context.Context, key *Request, r reservation) (<-chan struct{}, error) {
	budgets := e.budgets(key)
	if e.plenty(budgets, key, r) {
		return nil, nil
	}
	sums, err := e.booked(ctx, budgets, r.tenant, r.conversation)
	if ctx.Err() != nil {
		return nil, ctx.Err() // nobody waits for it any longer
	}
	e.note(err)
	e.purse.mu.Lock()
	defer e.purse.mu.Unlock()
	for i := range budgets {
		b, sum := &budgets[i], sums[i]
		e.warn(b, &r, b.share(sum))
		all := sum.plus(e.purse.reserved(b, &r, e.opts.Now())).plus(r.amount)
		if b.share(all) <= 1 {
			continue
		}
		over := &BudgetError{*b, all.tokens, all.money.USD(), i >= len(e.opts.Budgets)}
		if b.share(sum.plus(r.amount)) > 1 {
			return nil, over
		}
		return e.purse.next(), over
	}
	e.purse.hold(key, r)
	return nil, nil
}

// plenty makes a reservation if by what is remembered no budget comes near its end with it.
func (e *Engine) plenty(budgets []Budget, key *Request, r reservation) bool {
	e.purse.mu.Lock()
	defer e.purse.mu.Unlock()
	now := e.opts.Now()
	for i := range budgets {
		b := &budgets[i]
		sum, ok := e.purse.recent(b.scope(r.tenant, r.conversation), now)
		if !ok || b.share(sum.plus(e.purse.reserved(b, &r, now)).plus(r.amount)) >= budgetPlenty {
			return false
		}
	}
	e.purse.hold(key, r)
	return true
}

// ample reports whether by what is remembered no budget comes near its end with an amount more.
func (e *Engine) ample(budgets []Budget, tenant, conversation string, more amount) bool {
	e.purse.mu.Lock()
	defer e.purse.mu.Unlock()
	now := e.opts.Now()
	for i := range budgets {
		b := &budgets[i]
		if sum, ok := e.purse.recent(b.scope(tenant, conversation), now); !ok || b.share(sum.plus(more)) >= budgetPlenty {
			return false
		}
	}
	return true
}
