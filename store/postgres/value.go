package postgres

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/decantdev/decant"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// Types of parameters, as PostgreSQL numbers them.
const (
	typeBool, typeBytea, typeInt8, typeText = 16, 17, 20, 25
	typeByteas, typeTexts, typeInt8s        = 1001, 1009, 1016
)

// encode returns parameters in PostgreSQL's binary form, with their types. There is no NULL: nil is empty.
func encode(args []any) (values [][]byte, types []uint32, formats []int16) {
	for _, a := range args {
		v, t := encodeOne(a)
		values, types = append(values, v), append(types, t)
	}
	return values, types, []int16{1}
}

func encodeOne(a any) ([]byte, uint32) {
	switch a := a.(type) {
	case string:
		return []byte(legible(a)), typeText
	case []byte:
		return form.NonNil(a), typeBytea
	case decant.Hash:
		return some(a), typeBytea
	case bool:
		if a {
			return []byte{1}, typeBool
		}
		return []byte{0}, typeBool
	case int:
		return int8(int64(a)), typeInt8
	case int64:
		return int8(a), typeInt8
	case store.Money:
		return int8(int64(a)), typeInt8
	case time.Time:
		return int8(form.Micros(a)), typeInt8
	case []int64:
		return array(a, typeInt8, int8), typeInt8s
	case []string:
		return array(a, typeText, func(s string) []byte { return []byte(legible(s)) }), typeTexts
	case [][]byte:
		return array(a, typeBytea, func(b []byte) []byte { return b }), typeByteas
	case []decant.Hash:
		return array(a, typeBytea, some), typeByteas
	}
	panic(fmt.Sprintf("a parameter of type %T", a)) // every caller is in this package
}

func int8(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// some returns a hash that need not be there as it is stored: nothing for the zero hash.
func some(h decant.Hash) []byte {
	if h.IsZero() {
		return []byte{}
	}
	return h[:]
}

// array returns a list in binary form.
func array[T any](list []T, kind uint32, encode func(T) []byte) []byte {
	dimensions := uint32(1)
	if len(list) == 0 {
		dimensions = 0
	}
	out := binary.BigEndian.AppendUint32(nil, dimensions)
	out = binary.BigEndian.AppendUint32(out, 0) // no NULL
	out = binary.BigEndian.AppendUint32(out, kind)
	if len(list) == 0 {
		return out
	}
	out = binary.BigEndian.AppendUint32(out, uint32(len(list)))
	out = binary.BigEndian.AppendUint32(out, 1) // the first index
	for _, x := range list {
		v := encode(x)
		out = binary.BigEndian.AppendUint32(out, uint32(len(v)))
		out = append(out, v...)
	}
	return out
}

// coded begins a text that is stored in hexadecimal.
const coded = "\x01"

// legible returns a text as it is stored. PostgreSQL's text holds no NUL and nothing that is not UTF-8; names come from clients.
func legible(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, "\x00") && !strings.HasPrefix(s, coded) {
		return s
	}
	return coded + hex.EncodeToString([]byte(s))
}

// illegible returns the text of which legible has made s.
func illegible(s string) string {
	if h, ok := strings.CutPrefix(s, coded); ok {
		if b, err := hex.DecodeString(h); err == nil {
			return string(b)
		}
	}
	return s
}

// A row is what a statement returned, whose cells are taken from left to right.
type row struct {
	cells [][]byte
	next  int
}

func (r *row) bytes() []byte {
	b := r.cells[r.next]
	r.next++
	return b
}

func (r *row) text() string { return illegible(string(r.bytes())) }

// int64 reads an integer of any width; NULL is 0.
func (r *row) int64() int64 {
	switch b := r.bytes(); len(b) {
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	default:
		return 0
	}
}

func (r *row) int() int           { return int(r.int64()) }
func (r *row) money() store.Money { return store.Money(r.int64()) }
func (r *row) moment() time.Time  { return form.Moment(r.int64()) }
func (r *row) bool() bool         { b := r.bytes(); return len(b) == 1 && b[0] == 1 }

func (r *row) hash() (h decant.Hash) {
	copy(h[:], r.bytes())
	return h
}
