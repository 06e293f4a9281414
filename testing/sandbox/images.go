package sandbox

import (
	"bytes"
	"encoding/base64"
	"image"
	_ "image/gif"  // an image may be one
	_ "image/jpeg" // or this
	_ "image/png"  // or this
)

// With more than manyImages images in a request, none may be larger than manyImagesPixels in width or height.
const (
	manyImages       = 20
	manyImagesPixels = 2000
)

// checkImages refuses large images where there are many.
func (q *request) checkImages() *apiError {
	count, large := 0, ""
	look := func(path string, b *node) {
		if !isImage(b) {
			return
		}
		if count++; large == "" && pixels(b) > manyImagesPixels {
			large = path
		}
	}
	for _, t := range q.turns {
		for _, b := range t.blocks {
			look(b.path, b.node)
			for i, inner := range nested(b) {
				look(index(b.path+".content", i), inner)
			}
		}
	}
	if count <= manyImages || large == "" {
		return nil
	}
	return invalid("%s.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: %d pixels", large, manyImagesPixels)
}

// pixels returns the larger of width and height of an image, 0 where it is not known.
func pixels(b *node) int {
	data, err := base64.StdEncoding.DecodeString(b.get("source").str("data"))
	if err != nil {
		return 0
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return 0 // of another form
	}
	return max(c.Width, c.Height)
}
