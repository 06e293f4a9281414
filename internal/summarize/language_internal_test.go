package summarize

import "testing"

func TestTongueOf(t *testing.T) {
	for _, c := range []struct {
		text string
		want tongue
	}{
		{"Please fix the handler in cmd/server.go, and do not change the tests that are green for the release.", "English"},
		{"Bitte ändere den Server so, dass er nicht mit dem alten Port startet, und lass die Tests wie sie sind.", "German"},
		{"Il faut que le serveur soit relancé avec les options de la configuration, et pas dans ce dossier.", "French"},
		{"请修复 cmd/server.go 里的错误，不要改动测试。", "Chinese"},
		{"サーバーのエラーを修正してください。テストは変更しないで。", "Japanese"},
		{"Пожалуйста, исправь ошибку в сервере.", "Russian"},
		{"func main() { fmt.Println(x) }", ""},
		{"ok", ""},
		{"", ""},
	} {
		if got := tongueOf(c.text); got != c.want {
			t.Errorf("%q is %q, want %q", c.text, got, c.want)
		}
	}
}
