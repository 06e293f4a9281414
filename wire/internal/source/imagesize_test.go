package source

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
)

func TestImageTokensFromTheHead(t *testing.T) {
	png := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), be32(1500, 500)...)
	gif := append([]byte("GIF89a"), 0x2c, 0x01, 0xc8, 0x00) // 300 × 200
	vp8x := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"), 0xf3, 0x01, 0, 0xf3, 0x01, 0)
	vp8l := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f"), append(le32(99|199<<14), make([]byte, 5)...)...)
	vp8 := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a"), 0x2c, 0x01, 0xc8, 0x00)
	jpeg := "\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\xc8\x01\x2c\x03"
	tests := []struct {
		name string
		data []byte
		want int
	}{
		{"PNG", png, 1000},
		{"GIF", gif, 80},
		{"WebPExtended", vp8x, 333},
		{"WebPLossless", vp8l, 26},
		{"WebPLossy", vp8, 80},
		{"JPEG", []byte(jpeg + strings.Repeat("x", 20)), 80},
		{"Huge", append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), be32(8000, 8000)...), maxImageTokens},
		{"Tiny", append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), be32(1, 1)...), 1},
		{"Unknown", []byte("BM whatever this is, it has no size"), 0},
		{"CutOffJPEG", []byte("\xff\xd8\xff\xe0\xff\xff"), 0},
		{"Empty", nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			padded := append(tt.data, make([]byte, 3-len(tt.data)%3)...)
			if got := imageTokens([]byte(base64.StdEncoding.EncodeToString(padded))); got != tt.want {
				t.Errorf("got %d tokens, want %d", got, tt.want)
			}
		})
	}
	if got := imageTokens([]byte("https://example.com/a.png")); got != 0 {
		t.Errorf("a URL counts %d tokens, want 0 for not known", got)
	}
}

func be32(vs ...uint32) (out []byte) {
	for _, v := range vs {
		out = binary.BigEndian.AppendUint32(out, v)
	}
	return out
}

func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
