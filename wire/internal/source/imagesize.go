package source

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
)

// maxImageTokens is the most that an image counts for Anthropic's models; larger ones are scaled down.
const maxImageTokens = 1600

// imageTokens returns what a base64 image counts by Anthropic's rule, width × height / 750, and 0 when
// its size cannot be read. Only the head of the image is decoded.
func imageTokens(data []byte) int {
	const head = 64 << 10 // a JPEG's size may follow large metadata
	n := min(len(data), head) / 4 * 4
	buf := make([]byte, base64.StdEncoding.DecodedLen(n))
	n, _ = base64.StdEncoding.Decode(buf, data[:n]) // a broken tail leaves the head readable
	w, h := imageSize(buf[:n])
	if w <= 0 || h <= 0 {
		return 0
	}
	return min(max(1, w*h/750), maxImageTokens)
}

// imageSize reads width and height from the head of a PNG, GIF, WebP or JPEG file; 0, 0 when it is
// none of them.
func imageSize(b []byte) (w, h int) {
	switch {
	case len(b) >= 24 && bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return int(binary.BigEndian.Uint32(b[16:])), int(binary.BigEndian.Uint32(b[20:]))
	case len(b) >= 10 && bytes.HasPrefix(b, []byte("GIF8")):
		return int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[8:]))
	case len(b) >= 30 && bytes.HasPrefix(b, []byte("RIFF")) && string(b[8:12]) == "WEBP":
		return webpSize(b)
	case len(b) >= 4 && b[0] == 0xFF && b[1] == 0xD8:
		return jpegSize(b)
	}
	return 0, 0
}

// webpSize reads the three kinds of WebP headers (WebP container specification; RFC 6386 section 9.1).
func webpSize(b []byte) (w, h int) {
	switch string(b[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(b[26:])) & 0x3FFF, int(binary.LittleEndian.Uint16(b[28:])) & 0x3FFF
	case "VP8L":
		bits := binary.LittleEndian.Uint32(b[21:])
		return int(bits&0x3FFF) + 1, int(bits>>14&0x3FFF) + 1
	case "VP8X":
		return uint24(b[24:]) + 1, uint24(b[27:]) + 1
	}
	return 0, 0
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// jpegSize walks over the segments of a JPEG file to its frame header (ITU-T T.81, B.2.2).
func jpegSize(b []byte) (w, h int) {
	for i := 2; i+9 < len(b) && b[i] == 0xFF; {
		marker := b[i+1]
		if marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC {
			return int(binary.BigEndian.Uint16(b[i+7:])), int(binary.BigEndian.Uint16(b[i+5:]))
		}
		i += 2 + int(binary.BigEndian.Uint16(b[i+2:]))
	}
	return 0, 0
}
