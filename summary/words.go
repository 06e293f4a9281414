package summary

// wordsOf finds the words of s: it gathers the plain ones and, of prose, interns all of two letters or
// more. It returns the number of plain ones.
func (r *reader) wordsOf(s string, prose bool) int32 {
	r.plain = r.plain[:0]
	for i := 0; i < len(s); {
		c := s[i]
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if c >= 0xe3 && c < 0xee && i+2 < len(s) {
				if prose {
					r.intern(s[i : i+3])
				}
				i += 2
			}
			i++
			continue
		}
		j, low := wordEnd(s, i)
		if low && j-i >= 4 && standsAlone(s, i, j) {
			r.plain = append(r.plain, place{int32(i), int32(j)})
		}
		if prose && j-i >= 2 && j-i < 40 {
			r.intern(s[i:j])
		}
		i = j
	}
	return int32(len(r.plain))
}

// wordEnd returns the end of the word that starts at i, and whether it is all small letters.
func wordEnd(s string, i int) (int, bool) {
	low := true
	j := i
	for ; j < len(s); j++ {
		c := s[j]
		switch {
		case c >= 'a' && c <= 'z':
		case c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '\'' && j+1 < len(s) && s[j+1]|0x20 >= 'a' && s[j+1]|0x20 <= 'z':
			low = false
		default:
			return j, low
		}
	}
	return j, low
}

// standsAlone reports whether the word s[i:j] is no part of a name or a path.
func standsAlone(s string, i, j int) bool {
	if i > 0 && (s[i-1] == '_' || s[i-1] == '.' || s[i-1] == '/' || s[i-1] == '-' || s[i-1] >= '0' && s[i-1] <= '9') {
		return false
	}
	return j == len(s) || s[j] != '_' && s[j] != '/'
}

func (r *reader) intern(w string) {
	r.small = r.small[:0]
	for i := 0; i < len(w); i++ {
		c := w[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		r.small = append(r.small, c)
	}
	id, ok := r.word[string(r.small)]
	if !ok {
		id = int32(len(r.freq))
		r.word[string(r.small)] = id
		r.freq = append(r.freq, 0)
	}
	r.freq[id]++
	r.words = append(r.words, id)
}

// maxPiece is the longest piece in bytes.
const maxPiece = 110

// piecesAround remembers for each fact of line n the cheapest piece of it that holds the fact and two
// plain words.
func (r *reader) piecesAround(n int32, s string, spans []span) {
	if len(r.plain) < 2 {
		return
	}
	k := 0
	for _, sp := range spans {
		for k < len(r.plain) && r.plain[k].start < sp.end {
			k++
		}
		l := k
		for l > 0 && r.plain[l-1].end > sp.start {
			l--
		}
		for left := 0; left <= 2; left++ {
			r.tryPiece(n, s, sp, l-left, l, k, k+2-left)
		}
	}
}

// tryPiece considers the piece of s from plain word i to before plain word j around the fact sp, which
// stands between the plain words l-1 and k.
func (r *reader) tryPiece(n int32, s string, sp span, i, l, k, j int) {
	if i < 0 || j > len(r.plain) {
		return
	}
	p := piece{line: n, start: sp.start, end: sp.end}
	if i < l {
		p.start = r.plain[i].start
	}
	if j > k {
		p.end = r.plain[j-1].end
	}
	for p.start > 0 && nameByte(s[p.start-1]) {
		p.start--
	}
	for int(p.end) < len(s) && nameByte(s[p.end]) {
		p.end++
	}
	if p.end-p.start > maxPiece {
		return
	}
	p.cost = float32(estimate(s[p.start:p.end]))
	if a := &r.atoms[sp.atom]; a.piece.line < 0 || p.cost < a.piece.cost {
		a.piece = p
	}
}

// nameByte reports whether c may be a part of a name or a word, in any script.
func nameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c >= 0x80
}
