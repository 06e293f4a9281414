package language_test

import (
	"strings"
	"testing"

	"github.com/decantdev/decant/internal/language"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		text string
		want language.Language
	}{
		{"Please fix the handler in cmd/server.go, and do not change the tests that are green for the release.", "English"},
		{"Bitte ändere den Server so, dass er nicht mit dem alten Port startet, und lass die Tests wie sie sind.", "German"},
		{"Il faut que le serveur soit relancé avec les options de la configuration, et pas dans ce dossier.", "French"},
		{"El servidor no está en la lista, pero los registros son para el cliente que lo pidió por correo, y hay más.", "Spanish"},
		{"Il server non è nella lista, ma gli altri sono per il cliente che lo ha chiesto, come anche questo.", "Italian"},
		{"O servidor não está na lista, mas os outros são para o cliente que foi avisado por uma mensagem.", "Portuguese"},
		{"De server staat niet in het overzicht, maar de andere zijn voor een klant en dat wordt ook bij ons gedaan.", "Dutch"},
		{"请修复 cmd/server.go 里的错误，不要改动测试。", "Chinese"},
		{"サーバーのエラーを修正してください。テストは変更しないで。", "Japanese"},
		{"注文番号を確認して返金を処理", "Japanese"},
		{"서버의 오류를 고쳐 주세요. 시험은 바꾸지 마세요.", "Korean"},
		{"Пожалуйста, исправь ошибку в сервере.", "Russian"},
		{"请看 https://example.com/a/very/long/address/that/has/many/more/letters/than/the/sentence/around/it 这个页面", "Chinese"},
		{"func main() { fmt.Println(x) }", ""},
		{"ok", ""},
		{"", ""},
		{"é", ""},
		{"\xff\xfe `", ""},
	} {
		if got := language.Of(c.text); got != c.want {
			t.Errorf("%q is %q, want %q", c.text, got, c.want)
		}
	}
}

// What has words of no language, or of a language by chance, is in none, and changes nothing of the text around it.
func TestWhatIsNoLanguage(t *testing.T) {
	const english = "The user wants the jobs ranked, and this is what was found for each of them:\n"
	for _, many := range []string{
		"- Company 3, Senior .NET Developer, scored 3/10, https://www.linkedin.com/jobs/view/3812345678\n",
		"Job 2: 5.36 https://jobs.example.com/as/do/no/em/2\n",
		"jobs.example.com os.example.com.br na.example.com\n",
		"mail anna@os.com and das@der.de\n",
		"São Paulo, Rio de Janeiro, Los Angeles, El Paso, Das Keyboard, Der Spiegel\n",
		"    os.environ['DAS'] = der.das(ist=1, und=mit); não = está\n",
		"```\nder das und nicht ist ich zu mit auf\n```\n",
		"run `der das und nicht ist ich zu mit auf`\n",
		"com com com com com com com as do no em\n",
		"m12 DER_DAS und_nicht camelCase derDas 12 34 56 78\n",
	} {
		if got := language.Of(strings.Repeat(many, 30)); got != "" {
			t.Errorf("%q is %q", many, got)
		}
		if got := language.Of(english + strings.Repeat(many, 2)); got != language.English && got != "" {
			t.Errorf("a list after English is %q: %q", got, many)
		}
	}
}

// A text that comes in pieces is the same as one.
func TestASampleAddsUp(t *testing.T) {
	var s language.Sample
	for _, part := range []string{"Bitte ändere den Server so, dass er nicht", "mit dem alten Port startet, und lass das,", "wie es ist."} {
		s.Add(part)
	}
	if got := s.Language(); got != "German" {
		t.Error(got)
	}
}
