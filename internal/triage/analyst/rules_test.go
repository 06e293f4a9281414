package analyst

import (
	"strings"
	"testing"
)

// place returns what is known where a source was shown and the line with "<--" has failed.
func place(t *testing.T, message, source string) *trouble {
	t.Helper()
	f := &file{repo: "r", sha: "s", path: "p", lines: map[int]string{}}
	line := 0
	for i, l := range strings.Split(strings.TrimPrefix(source, "\n"), "\n") {
		if before, _, failed := strings.Cut(l, " <--"); failed {
			l, line = before, i+1
		}
		f.lines[i+1] = l
	}
	if line == 0 {
		t.Fatalf("no line has failed in %s", source)
	}
	return &trouble{message: message, file: f, line: line}
}

// Each rule sees its mistake in several languages, and does not see it where the code is right.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		name, message, source string
		tag                   string // empty: nothing is wrong
		lines                 []int
	}{
		{"python get", "AttributeError: 'NoneType' object has no attribute 'rate'", "\ndef f(d, k):\n    c = d.get(k)\n    n = 1\n    return c.rate <--", "missing-value", []int{2, 4}},
		{"python get, checked", "AttributeError: 'NoneType' object has no attribute 'rate'", "\ndef f(d, k):\n    c = d.get(k)\n    if c is None:\n        return 0\n    return c.rate <--", "", nil},
		{"python chained", "AttributeError: 'NoneType' object has no attribute 'group'", "\ndef f(s):\n    return PATTERN.match(s).group(1) <--", "missing-value", []int{2}},
		{"go map", "panic: runtime error: invalid memory address or nil pointer dereference", "\nfunc f(m map[string]*T, k string) int {\n\tv := m[k]\n\treturn v.N <--\n}", "missing-value", []int{2, 3}},
		{"go map, checked", "panic: runtime error: invalid memory address or nil pointer dereference", "\nfunc f(m map[string]*T, k string) int {\n\tv := m[k]\n\tif v == nil {\n\t\treturn 0\n\t}\n\treturn v.N <--\n}", "", nil},
		{"node find", "TypeError: Cannot read properties of undefined (reading 'id')", "\nfunction f(xs) {\n  const x = xs.find(y => y.ok)\n  return x.id <--\n}", "missing-value", []int{2, 3}},
		{"go callee", "nil pointer dereference", "\nfunc load(k string) *T {\n\tif k == \"\" {\n\t\treturn nil\n\t}\n\treturn &T{}\n}\nfunc g(k string) int {\n\tt := load(k)\n\treturn t.N <--\n}", "missing-value", []int{8, 9, 3}},
		{"go callee that never returns nothing", "nil pointer dereference", "\nfunc load(k string) *T {\n\treturn &T{}\n}\nfunc g(k string) int {\n\tt := load(k)\n\treturn t.N <--\n}", "", nil},
		{"go loop", "panic: runtime error: index out of range [3] with length 3", "\nfunc f(xs []int) (n int) {\n\tfor i := 0; i <= len(xs); i++ {\n\t\tn += xs[i] <--\n\t}\n\treturn n\n}", "off-by-one", []int{2, 3}},
		{"go loop, less one", "index out of range", "\nfunc f(xs []int) (n int) {\n\tfor i := 0; i <= len(xs)-1; i++ {\n\t\tn += xs[i] <--\n\t}\n}", "", nil},
		{"go next, to the last one", "index out of range", "\nfunc f(xs []int) (n int) {\n\tfor i := 0; i <= len(xs)-1; i++ {\n\t\tn += xs[i+1] <--\n\t}\n}", "off-by-one", []int{2, 3}},
		{"the last one", "IndexError: list index out of range", "\ndef f(xs):\n    return xs[len(xs) - 1] <--", "", nil},
		{"a key that was asked for", "KeyError: 'sku'", "\ndef f(o):\n    if 'sku' not in o:\n        return 0\n    return o['sku'] <--", "", nil},
		{"a key that is set", "KeyError: 7", "\ndef f(o, k, m):\n    o[k] = m[k['n']] <--", "missing-key", []int{2}},
		{"member that may not be set", "nil pointer dereference", "\nfunc f(t *T) string {\n\to := t.Owner\n\treturn o.Name <--\n}", "missing-value", []int{2, 3}},
		{"go next", "index out of range", "\nfunc f(xs []int) (n int) {\n\tfor i := range xs {\n\t\tn += xs[i+1] <--\n\t}\n}", "off-by-one", []int{2, 3}},
		{"python range", "IndexError: list index out of range", "\ndef f(xs):\n    for i in range(len(xs) + 1):\n        print(xs[i]) <--", "off-by-one", []int{2, 3}},
		{"python range, of an entry", "IndexError: list index out of range", "\ndef f(d):\n    for i in range(len(d[\"xs\"]) + 1):\n        print(d[\"xs\"][i]) <--", "off-by-one", []int{2, 3}},
		{"python range, right", "IndexError: list index out of range", "\ndef f(xs, ys):\n    for i in range(len(xs)):\n        print(ys[i]) <--", "index", []int{3}},
		{"check one off", "index out of range [3] with length 3", "\nfunc f(xs []int, at int) int {\n\tif at > len(xs) {\n\t\treturn 0\n\t}\n\treturn xs[at] <--\n}", "off-by-one", []int{2, 5}},
		{"check", "index out of range [3] with length 3", "\nfunc f(xs []int, at int) int {\n\tif at >= len(xs) {\n\t\treturn 0\n\t}\n\treturn xs[at] <--\n}", "", nil},
		{"number", "index out of range [2] with length 2", "\nfunc f(xs []string) bool {\n\treturn xs[0][2] < '0' <--\n}", "index", []int{2}},
		{"member", "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'", "\ndef renewal(self):\n    return self.until + 1 <--", "missing-value", []int{2}},
		{"member, checked", "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'", "\ndef renewal(self):\n    if self.until is None:\n        return 0\n    return self.until + 1 <--", "", nil},
		{"nil map", "panic: assignment to entry in nil map", "\nfunc (o *T) f(who string) {\n\to.Notes[who] = who <--\n}", "nil-map", []int{2}},
		{"made map", "panic: assignment to entry in nil map", "\nfunc (o *T) f(who string) {\n\to.Notes = make(map[string]string)\n\to.Notes[who] = who <--\n}", "", nil},
		{"own length", "IndexError: list index out of range", "\ndef f(xs):\n    return xs[len(xs)] <--", "off-by-one", []int{2}},
		{"another loop is wrong", "IndexError: list index out of range", "\ndef f(xs, ys):\n    for j in range(len(xs) + 1):\n        pass\n    return ys[3] <--", "index", []int{4}},
		{"key", "KeyError: 'sku'", "\ndef f(o):\n    return o['sku'] <--", "missing-key", []int{2}},
		{"variable key", "KeyError: 'EU'", "\ndef f(o):\n    return RATES[o.region] <--", "missing-key", []int{2}},
		{"variable key, checked", "KeyError: 'EU'", "\ndef f(o, region):\n    if region in RATES:\n        return RATES[region] <--", "", nil},
		{"division", "ZeroDivisionError: division by zero", "\ndef f(total, n):\n    return total / n <--", "division", []int{2}},
		{"division, checked", "ZeroDivisionError: division by zero", "\ndef f(total, n):\n    if not n:\n        return 0\n    return total / n <--", "", nil},
		{"swapped", "ValueError: bad currency: 5", "\ndef charge(amount, currency):\n    pass\ndef pay(amount, currency):\n    charge(currency, amount) <--", "swapped-arguments", []int{4, 1}},
		{"not swapped", "ValueError: bad currency: 5", "\ndef charge(amount, currency):\n    pass\ndef pay(amount, currency):\n    charge(amount, currency) <--", "", nil},
		{"a comment is no code", "IndexError: list index out of range", "\ndef f(xs):\n    # for i in range(len(xs) + 1):\n    return xs[i] <--", "index", []int{3}},
		{"nothing to see", "ConnectionResetError: reset by peer", "\ndef f(s):\n    return s.read() <--", "", nil},
	} {
		d := place(t, c.message, c.source).diagnose()
		switch {
		case d == nil && c.tag == "":
		case d == nil || d.tag != c.tag:
			t.Errorf("%s: %+v, want %q", c.name, d, c.tag)
		default:
			var lines []int
			for _, q := range d.quotes {
				lines = append(lines, q.line)
			}
			if len(lines) != len(c.lines) {
				t.Errorf("%s: lines %v, want %v", c.name, lines, c.lines)
				continue
			}
			for i := range lines {
				if lines[i] != c.lines[i] {
					t.Errorf("%s: lines %v, want %v", c.name, lines, c.lines)
				}
			}
		}
	}
}
