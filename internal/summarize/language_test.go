package summarize_test

import (
	"strings"
	"testing"
)

const chinese = `# 目标
m1 用户要把 cmd/server/main.go 的端口改成 8443。
# 计划
-
# 状态
m3 测试通过，构建成功。
# 结论
-
# 决定
m2 决定保留旧的令牌格式。
# 未完成
-`

// A record is in the language of the user, and so are its headings.
func TestARecordInChinese(t *testing.T) {
	ms := session()[:3]
	ms[0] = user(1, "请把 cmd/server/main.go 的端口改成 8443，不要改动数据库迁移。部署之后请告诉我结果如何。")
	ms[1] = model(2, "好的，我决定保留旧的令牌格式，然后运行全部测试，看看有没有问题。")
	ms[2] = model(3, "测试通过，构建成功。")
	a := says(good, chinese)
	out, err := writer(t, a).Summarize(t.Context(), input(ms))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(a.asked[0].System, "# 目标") || !strings.Contains(a.asked[0].System, "Write in Chinese") {
		t.Error("Chinese is not asked for")
	}
	if len(a.asked) != 2 || !strings.Contains(a.asked[1].Prompt, "It is in English. Write it in Chinese.") || !strings.Contains(out.Text, "# 决定\nm2 决定保留旧的令牌格式。") {
		t.Errorf("%d calls, record\n%s", len(a.asked), out.Text)
	}
}
