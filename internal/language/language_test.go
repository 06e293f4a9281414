package language_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/language"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{"Please fix the handler in cmd/server.go, and do not change the tests that are green for the release.", "English"},
		{"Bitte ändere den Server so, dass er nicht mit dem alten Port startet, und lass die Tests wie sie sind.", "German"},
		{"Il faut que le serveur soit relancé avec les options de la configuration, et pas dans ce dossier.", "French"},
		{"请修复 cmd/server.go 里的错误，不要改动测试。", "Chinese"},
		{"サーバーのエラーを修正してください。テストは変更しないで。", "Japanese"},
		{"Пожалуйста, исправь ошибку в сервере.", "Russian"},
		{"func main() { fmt.Println(x) }", ""},
		{"ok", ""},
		{strings.Repeat("- Company 3, Senior .NET Developer, scored 3/10, https://www.linkedin.com/jobs/view/38, no.\n", 30), ""},
		{"I scored the jobs of the list, and these are the ones that fit.\n" + strings.Repeat("- https://jobs.example.com/do/no/e/em 5.36\n", 40), "English"},
		{"Por favor, não altere os testes que já estão prontos para a versão, e use também uma tabela que você já fez.", "Portuguese"},
		{"請求書システムを新しいAPIに移行します。目標：今月末までに全テナント切替完了。", "Japanese"},
		{"我们参考了日语文档「のみ」，请继续修改退款接口的错误处理逻辑和相关的测试用例。", "Chinese"},
		{"请看 https://www.example.com/a/very/long/address/that/is/no/evidence/of/anything/at/all.html", "Chinese"},
		{"```\nder die das und nicht ist ich zu den mit\n```", ""},
		{"", ""},
	} {
		if got := language.Of(c.text); got != c.want {
			t.Errorf("%q is %q, want %q", c.text, got, c.want)
		}
	}
}
