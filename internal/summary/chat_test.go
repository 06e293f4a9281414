package summary_test

import (
	"fmt"
	"strings"
	"testing"
)

// The record of a chat was what the user had said last and whatever sounded like a rule, thanks and
// compliments among it; what the talk was about was gone.
func TestChatKeepsWhatItWasAbout(t *testing.T) {
	for _, tt := range []struct {
		name     string
		idle     [3]string // what both say to be friendly, with a number
		said     [][2]string
		rule     string
		keep     []string
		pleasant string
	}{
		{"English", [3]string{
			"That sounds really good, number %d. You always give me good ideas, I never get tired of it.",
			"I am happy to hear that, feel free to ask me anything. What else would you like to talk about?",
			"Thank you, I will take a look at it some day %d.",
		}, [][2]string{
			{"I went to Green Meadow Park with my sister and we saw a red squirrel.", "How nice that you saw it."},
			{"Can you recommend a novel?", "I recommend \"The Little Prince\" to you. Many people love it."},
			{"My favourite dish is steamed sea bass, which my uncle taught me.", "That must be delicious."},
		}, "From now on call me Captain.", []string{"Green Meadow Park", "The Little Prince", "sea bass"}, "tired of it"},
		{"Chinese", [3]string{
			"这听起来真的很不错%d，和你聊天总是让我收获很多，我永远不会忘记的。",
			"很高兴听你这么说，有什么问题随时可以问我。你还想聊些什么呢？",
			"谢谢你的建议，我以后有空会去看一看的%d。",
		}, [][2]string{
			{"今天我和妹妹去了绿禾公园，看到了一只红松鼠。", "能看到真好。"},
			{"你能给我推荐一本小说吗？", "我推荐你看《小王子》，很多人都喜欢这本书。"},
			{"我最喜欢的菜是清蒸鲈鱼，是我叔叔教我做的。", "那一定很好吃。"},
		}, "以后请叫我船长。", []string{"绿禾公园", "小王子", "清蒸鲈鱼"}, "收获很多"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			n := 0
			turn := func(user, model string) {
				fmt.Fprintf(&b, "-- m%d user --\n%s\n-- m%d model --\n%s\n", n+1, user, n+2, model)
				n += 2
			}
			for i := range 30 {
				if i%10 == 3 {
					turn(tt.said[i/10][0], tt.said[i/10][1])
				}
				if i == 12 {
					turn(tt.rule, tt.said[2][1])
				}
				turn(fmt.Sprintf(tt.idle[i%2*2], i), tt.idle[1])
			}
			text := extract(t, talk(t, b.String()), 200)
			for _, want := range append(tt.keep, tt.rule) {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
			if n := strings.Count(text, tt.pleasant); n > 2 {
				t.Errorf("%d compliments in\n%s", n, text)
			}
		})
	}
}
