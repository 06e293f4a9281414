package token

import (
	"strings"

	"github.com/decantdev/decant"
)

// What an image or document is assumed to take when nothing but its presence is known.
const (
	claudeImage = 1600 // the cap of Anthropic's rule, which photos and screenshots reach
	openaiImage = 765  // a square of 1024 pixels by the tile rule
	pdfPage     = 2200 // text of an average page and its picture
	pdfBytes    = 100_000
)

// imageTokens returns the tokens of an image of the given size in pixels, by the provider's rule:
// OpenAI bills tiles of 512 pixels after scaling (85 for the image and 170 for each tile), all others are
// counted as Anthropic does, an area of 750 pixels a token and at most 1,600. A size that is not
// positive is unknown, for which the answer is a stated default (1,600, OpenAI 765).
func imageTokens(p Provider, width, height int) int {
	if p == OpenAI {
		return tiles(width, height)
	}
	if width <= 0 || height <= 0 {
		return claudeImage
	}
	return int(min(claudeImage, (int64(width)*int64(height)+749)/750))
}

func tiles(width, height int) int {
	if width <= 0 || height <= 0 {
		return openaiImage
	}
	w, h := float64(width), float64(height)
	if long := max(w, h); long > 2048 {
		w, h = w*2048/long, h*2048/long
	}
	if narrow := min(w, h); narrow > 768 {
		w, h = w*768/narrow, h*768/narrow
	}
	return 85 + 170*ceilTiles(w)*ceilTiles(h)
}

func ceilTiles(pixels float64) int { return max(1, (int(pixels+0.5)+511)/512) }

// documentTokens returns the tokens of a PDF with the given number of pages: 2,200 a page.
func documentTokens(pages int) int { return pdfPage * max(1, pages) }

// mediaTokens returns the tokens of what a block holds besides text.
func mediaTokens(p Provider, m decant.Media) int {
	switch {
	case m.Tokens > 0:
		return m.Tokens
	case m.Count == 0 && m.Type == "" && m.Bytes == 0:
		return 0
	case strings.HasPrefix(m.Type, "application/pdf"):
		return max(documentTokens(m.Count), documentTokens(m.Bytes/pdfBytes))
	case strings.HasPrefix(m.Type, "text/"):
		return (m.Bytes + 2) / 3
	}
	return max(1, m.Count) * imageTokens(p, 0, 0)
}
