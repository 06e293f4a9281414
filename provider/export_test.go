package provider

// Len returns how many credentials are remembered.
func (w *Wallet) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.cards)
}
