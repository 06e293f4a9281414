package token

import (
	"strings"

	"github.com/decantdev/decant"
)

// The tokens that are assumed for an image or document of unknown size.
const (
	claudeImage = 1600 // the cap of Anthropic's rule, which photos and screenshots reach
	openaiImage = 765  // a square of 1024 pixels by the tile rule
	pdfPage     = 2200 // text of an average page and its picture
	pdfBytes    = 100_000
)

// imageTokens returns the tokens of an image of the given size in pixels, by the provider's rule:
// OpenAI bills tiles of 512 pixels after scaling (85 tokens for the image and 170 for each tile). For all
// other providers Anthropic's rule is used: one token for 750 pixels, at most 1,600. If a size is not
// positive, it is unknown, and the answer is a default (1,600; for OpenAI 765).
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

// mediaTokens returns the tokens of the images and documents of a block.
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
