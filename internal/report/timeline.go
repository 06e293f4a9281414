package report

import (
	"fmt"
	"strings"
)

const (
	plotRows = 8
	plotAxis = 9 // columns of the labels on the left
)

var eighths = []rune(" ▁▂▃▄▅▆▇█")

// timeline draws how full the window was, message by message: one column for a stretch of answers,
// as high as its fullest.
func (in *Inspection) timeline(p *printer) {
	if len(in.Timeline) < 2 {
		return
	}
	cols := min(len(in.Timeline), max(20, p.width-plotAxis-2))
	peaks := columns(in.Timeline, cols)
	top := in.scale(peaks)
	p.line("\nwindow over time (%s)", in.legend())
	for row := plotRows; row > 0; row-- {
		label := ""
		if row == plotRows || row == plotRows/2 {
			label = compact(top * row / plotRows)
		}
		p.line("%*s ┤%s", plotAxis-2, label, bars(peaks, top, row))
	}
	p.line("%*s └%s", plotAxis-2, "0", strings.Repeat("─", cols))
	first, last := in.Timeline[0].Message, in.Timeline[len(in.Timeline)-1].Message
	p.line("%*s%s %*s", plotAxis, "", first, cols-len(first)-1, last)
}

// columns returns the peak of each of n equal stretches of the timeline.
func columns(points []point, n int) []int {
	out := make([]int, n)
	for i, pt := range points {
		c := i * n / len(points)
		out[c] = max(out[c], pt.Tokens)
	}
	return out
}

// scale returns the tokens of the top line: the window when it was filled by a tenth or more.
func (in *Inspection) scale(peaks []int) int {
	top := 1
	for _, v := range peaks {
		top = max(top, v)
	}
	if in.Window > 0 && top*10 >= in.Window && top <= in.Window {
		return in.Window
	}
	return (top + plotRows - 1) / plotRows * plotRows
}

func (in *Inspection) legend() string {
	measured := 0
	for _, pt := range in.Timeline {
		if pt.Measured {
			measured++
		}
	}
	switch measured {
	case len(in.Timeline):
		return "as the provider reported it"
	case 0:
		return "estimated"
	}
	return fmt.Sprintf("%d of %d points reported by the provider, the rest estimated", measured, len(in.Timeline))
}

// bars draws one row, counted from 1 at the bottom.
func bars(peaks []int, top, row int) string {
	out := make([]rune, len(peaks))
	for i, v := range peaks {
		full := v * plotRows * 8 / top // height in eighths of a row
		out[i] = eighths[min(8, max(0, full-(row-1)*8))]
	}
	return string(out)
}

// compact writes a number of tokens in at most five characters: 950, 81k, 1.2M.
func compact(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return fmt.Sprint(n)
}
