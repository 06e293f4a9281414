package anthropic

import "testing"

// An error before the answer begins is a refusal. Behind its beginning the answer broke off.
func TestErrorInPlaceOfAnAnswer(t *testing.T) {
	for _, started := range []bool{false, true} {
		a := Dialect{}.ReadAnswer(func(int) bool { return true })
		if started {
			a.Event([]byte("message_start"), []byte(`{"type":"message_start","message":{"usage":{"input_tokens":9}}}`))
		}
		a.Event([]byte("error"), []byte(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`))
		if got := a.Answer(); !got.Broken || got.Refused == started {
			t.Errorf("started %t: %+v", started, got)
		}
	}
}
