package passage

import "strings"

// beside calls yield with each two neighbouring words of a name, in either order. So a name is found by its
// parts in any order, before texts that have the same words in different places.
func beside(text string, yield func(string)) { twos(text, false, yield) }

// apart calls yield with each two neighbouring words of different names: a question may split a name.
func apart(text string, yield func(string)) { twos(text, true, yield) }

// twos calls yield with each two neighbouring words, in one name or in different names.
func twos(text string, apart bool, yield func(string)) {
	last := ""
	for i := 0; i < len(text); {
		n := nameEnd(text, i)
		if n == i {
			i++
			continue
		}
		first := true
		eachPart(strings.TrimRight(text[i:n], joints), func(w string) {
			if first == apart && last != "" && last != w {
				yield(min(last, w) + " " + max(last, w))
			}
			last, first = w, false
		})
		i = n
	}
}

// eachPart calls yield with the words in a name.
func eachPart(w string, yield func(string)) {
	from := 0
	for i := 0; i <= len(w); i++ {
		joint := i < len(w) && strings.IndexByte(joints, w[i]) >= 0
		if i == len(w) || joint || i > from && hump(w, i) {
			if i > from {
				word(w[from:i], yield)
			}
			from = i
			if joint {
				from++
			}
		}
	}
}
