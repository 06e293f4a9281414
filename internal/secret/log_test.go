package secret

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// Whatever way a key comes into a log line, it is not in what is written.
func TestHandlerMasksKeysInLogLines(t *testing.T) {
	const key = "sk-ant-api03-Zk3v9QpX7mRt2WbLs8NcYd5Fh1Jg4Ua6Ie0Ob"
	var out strings.Builder
	log := slog.New(Handler(Handler(slog.NewTextHandler(&out, nil))))
	log.Error("refused "+key, "error", errors.New("401 for "+key), "text", key, slog.Group("of", "name", key),
		"tokens", 12)
	log.With("with", key).WithGroup("group").Warn("again", "error", errors.Join(errors.New("a"), errors.New(key)))
	if text := out.String(); strings.Contains(text, key) || strings.Count(text, "redacted") != 6 ||
		!strings.Contains(text, "tokens=12") || !strings.Contains(text, "401 for") {
		t.Errorf("logged: %s", text)
	}
}
