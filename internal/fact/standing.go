package fact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/decantdev/decant/internal/lazyregexp"
)

// Standing reports whether a sentence is a standing order: it says how things are to be done from now on, or what is
// never to be done. Questions are none, nor is what tells about somebody or something, nor what is wished for the moment:
// "don't set it, let's see". It knows the ways in which English, German, French, Spanish, Portuguese, Chinese and
// Japanese say so.
func Standing(sentence string) bool {
	s := strings.TrimLeft(strings.TrimSpace(sentence), "-*•>–—#\"“”„«'_ 0123456789.)(")
	if n := utf8.RuneCountInString(s); n < 6 && s < "⺀" || n < 4 || len(s) > maxSentence {
		return false
	}
	if eastern(s) {
		return !asking(s) && easternOrder(s)
	}
	low := unnamed(strings.ToLower(strings.ReplaceAll(s, "’", "'")))
	if !mayOrder(low) || asking(s) {
		return false
	}
	if whole := leads.ReplaceAllString(low, ""); wholes.MatchString(whole) && !moment.MatchString(whole) {
		return true
	}
	before := ""
	for _, c := range clauseEnds.Split(low, -1) {
		c = before + leads.ReplaceAllString(strings.TrimLeft(c, " \"'`(_*-"), "")
		if westernOrder(c) {
			return true
		}
		if before = ""; everFirst.MatchString(c) { // "from now on, ..."
			before = c + " "
		}
	}
	return false
}

// Standings returns the sentences of a line that are standing orders, in its words.
func Standings(line string) (out []string) {
	for s := range sentences(line) {
		if Standing(s) {
			out = append(out, s)
		}
	}
	return out
}

// words makes an expression for one of some phrases as words of their own.
func wordsOf(phrases string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?:^|[^\pL])(?:` + phrases + `)(?:$|[^\pL])`)
}

// atStart makes an expression for a clause that begins with one of some phrases.
func atStart(phrases string) *lazyregexp.Regexp {
	return lazyregexp.New(`^(?:` + phrases + `)(?:$|[^\pL])`)
}

var (
	// clauseEnds are where one order may end and the next begin.
	clauseEnds = lazyregexp.New(`[:;]\s|,\s|\s[–—-]+\s|[.!]\s|\.{3}|\s(?:and|but|so|und|aber|et|mais|y|pero|e|mas)\s`)
	// leads are words before an order that do not change it.
	leads = lazyregexp.New(`^(?:(?:(?:and|but|also|so|then|like|wait|ok|okay|(?:can|could|would|will) you|(?:note|remember|keep in mind|bear in mind) that|yes|yeah|oh|please|note|important|rule|remember|btw|again|in general|generally|as a rule|as always|overall|und|aber|auch|bitte|wichtig|regel|achtung|merke?|et|mais|aussi|s'il te plaît|s'il vous plaît|important|y|pero|también|por favor|importante|e|mas|também|regla|règle|regra)\b[,:!]?)\s+)+`)

	// wholes are orders of which only the sentence as a whole shows that they stay in force.
	wholes = lazyregexp.New(`^(?:use|write|call|take|put|prefer) [^,]{1,60}, (?:not|never) |^(?:verwendet?|nutzt?|benutzt?|nimm) .{1,60} (?:statt|anstatt|anstelle) |^(?:utilise[rz]?|usa|use|utiliza|emploie) .{1,60} (?:au lieu d|en lugar de|en vez de|em vez de)|` +
		`(?:tell|ask|warn|inform|notify|check with) me (?:first|before)|^(?:i|we) prefer |^we (?:use|don't use|do not use) .{1,60}(?: here| in this (?:repo|project|house|team)|, not )|` +
		`^keep .{1,60} (?:unchanged|untouched|intact|private|secret|short|simple|below|under|out of)\b|^leave .{1,60} (?:alone|untouched|unchanged|as (?:it is|is|they are))|^make sure (?:that )?.*\b(?:stays?|remains?|always|never|every)\b|` +
		`^(?:everything|all) (?:in|of|from|under) .*\b(?:generated|read-only|private|secret|off limits)\b|^nothing (?:goes|may|leaves|gets|is to)\b|^only .{1,40} (?:may|can|must|is allowed|are allowed)\b|^(?:write|run) (?:the )?tests? .*\bfirst\b|^tests? first\b|` +
		`^(?:write|log|answer|reply|document|comment|name|report|summarize|summarise|explain|translate) .*\bin (?:english|german|french|spanish|chinese|japanese|portuguese|italian|dutch|russian|korean|polish|lowercase|uppercase)[.!]*$`)

	// ever are words for all times and cases.
	ever = wordsOf(`always|never|at all times|from now on|from here on|going forward|henceforth|in (?:the )?future|under no circumstances|on no account|in no case|without exception|no matter what|every ?time|each time|whenever|by default|for (?:all|every|any) [a-z]+|(?:before|after) (?:each|every|any) [a-z]+|before (?:you )?(?:commit|push|merg|releas|deploy)\w*|on every [a-z]+|without (?:asking|my|our|review|approval|permission)[a-z ]*|unless (?:i|we) (?:ask|say|tell)[a-z ]*|until (?:i|we) (?:say|ask|tell|approve|confirm)[a-z ]*|` +
		`immer|nie|niemals|nie wieder|ab jetzt|ab sofort|von nun an|künftig|zukünftig|in zukunft|stets|grundsätzlich|jedes mal|auf keinen fall|keinesfalls|unter keinen umständen|ausschließlich|ausnahmslos|` +
		`toujours|jamais|désormais|dorénavant|à partir de maintenant|à l'avenir|en aucun cas|à chaque fois|uniquement|` +
		`siempre|nunca|jamás|a partir de ahora|de ahora en adelante|en adelante|en ningún caso|cada vez|únicamente|exclusivamente|` +
		`sempre|jamais|a partir de agora|de agora em diante|daqui em diante|em hipótese alguma|em nenhum caso|toda vez|somente|apenas`)
	// everFirst are those of them that begin an order without a verb before them.
	everFirst = atStart(`always|never|at all times|from now on|from here on|going forward|henceforth|in (?:the )?future|under no circumstances|on no account|in no case|(?:every ?time|each time|whenever) you|by default|for (?:all|every|any) [a-z]+|(?:before|after) (?:each|every|any) [a-z]+|before (?:you )?(?:commit|push|merg|releas|deploy)\w*|` +
		`immer(?: nur| erst| zuerst)?|nie|niemals|nie wieder|ab jetzt|ab sofort|von nun an|künftig|zukünftig|in zukunft|stets|grundsätzlich|auf keinen fall|unter keinen umständen|ausschließlich|` +
		`toujours|jamais|ne jamais|désormais|dorénavant|à partir de maintenant|à l'avenir|en aucun cas|à chaque fois|` +
		`siempre|nunca|jamás|a partir de ahora|de ahora en adelante|en adelante|en ningún caso|cada vez|` +
		`sempre|nunca|a partir de agora|de agora em diante|daqui em diante|em hipótese alguma|toda vez`)
	// duty are ways to say what has to be or may not be, of anything.
	duty = wordsOf(`must(?:n't| not)?|(?:has|have|had) to (?:be|stay|remain)|you (?:may|can|must) not|may (?:only|never)|(?:can|should) (?:never|only|always)|should not|shouldn't|is (?:not allowed|forbidden|off[- ]limits|mandatory|required|read-only)|are (?:not allowed|forbidden|off[- ]limits|mandatory|required|read-only)|(?:stays?|remains?) (?:untouched|unchanged|frozen|as (?:it is|they are)|private|secret|in)|` +
		`muss|müssen|darf|dürfen|verboten|tabu|pflicht|soll(?:en)? (?:immer|nie|niemals|nur|nicht)|` +
		`doit|doivent|il faut|il ne faut|interdit|debe|deben|hay que|prohibido|deve|devem|é proibido|é obrigatório|proibido`)
	// commands are verbs that give an order in the languages whose order may be far from them.
	commands = atStart(`nimm|nehmt|nehmen sie|verwendet?|verwende|verwenden sie|benutzt?|benutze|nutzt?|nutze|schreibe?|schreibt|schreiben sie|antworte|antwortet|antworten sie|änder[en]?|ändere|lösche?|fasse?|mache?|tu|halte?|haltet|lasse?|führe?|teste|prüfe?|frage?|fragt|fragen sie|sage?|gib|zeige?|setze?|committe|pushe|merge|rühre?|vermeide|vermeidet|achte|bleibe?|beachte|formatiere|übersetze|sprich|rufe?|schicke?|sende|installiere|baue|starte|rechne|runde|zitiere|melde|behalte|bevorzuge|lege?|speicher[en]?|speichere|arbeite|` +
		`utilise[rz]?|réponds|répondez|écris|écrivez|garde[rz]?|évite[rz]?|fais|faites|mets|mettez|lance[rz]?|teste[rz]?|demande[rz]?|emploie|préfère|parle|` +
		`usa|use|usad|utiliza|responde|responda|escribe|escreva|mantén|mantenha|evita|evite|haz|faça|pon|ponha|ejecuta|execute|rode|pregunta|pergunte|prefiere|prefira|habla|fale|` +
		`use|run|keep|write|reply|answer|respond|ask|test|commit|push|format|name|put|add|check|stick|work|make|show|speak|send|email|store|log|cite|quote|round|treat|report|read|wait|leave|stay|call|do|go|be|have|let|start|end|open|close|create|update|tell|give|set|prefer|follow|include|exclude|document`)
	// happened are verbs behind such a word that tell what was.
	happened = lazyregexp.New(`^[\pL]+ (?:had|have|has|saw|seen|got|did|was|were|happened|worked|mind|hatte|habe|war|había|habia|he|ha|vi|visto|tinha|tive|foi|vu|eu)(?:$|[^\pL])`)
	// forbidding begins an order not to do something; moment is what it must not go on with.
	forbidding = atStart(`do not|don't|dont|stop [a-z]+ing|refrain from|avoid|stay (?:out|away)|keep (?:out|away|your hands)|hands off|steer clear|nothing but|not? more|` +
		`keine?[nmrs]?|finger weg|ne [\pL']+(?: [\pL']+)? (?:pas|plus|jamais|rien)|n'[\pL]+ (?:pas|plus|jamais|rien)|ne pas|évite[rz]?|` +
		`no (?:uses|use|hagas|haga|escribas|toques|toque|pongas|cambies|cambie|modifiques|modifique|borres|borre|subas|crees|añadas|elimines|llames|mezcles|hables|digas|envíes)|` +
		`não (?:use|usem|altere|mexa|toque|mude|apague|faça|escreva|modifique|crie|adicione|remova|envie|chame|misture|suba|diga)`)
	// pronouns make an order one about the thing at hand.
	pronouns = lazyregexp.New(`^(?:do not|don't|dont) (?:[\pL]+ing |[\pL]+ )?(?:it|this|that|these|those|them|anything|everything|so)(?:$|[^\pL])|^(?:do not|don't|dont) (?:worry|bother|forget|stop|know|think|see|have|need|care|mind|understand|remember|expect|believe|want|like|mean)(?:$|[^\pL])|^(?:avoid|stop [a-z]+ing) (?:it|this|that|these|those|them)(?:$|[^\pL])`)
	// banned begins an order by what must not be: "no new dependencies".
	banned = lazyregexp.New(`^no (?:[\pL-]+ ){0,2}(?:[\pL-]+[^\Wsiu]s|[\pL-]+ing|(?:[\pL-]+ )?(?:other than|except|in|on|without|for|at|after|before) .+)(?:$|[^\pL])`)
	// styles are orders about form that need no such word.
	// few are what of some things is kept now, which says nothing of later.
	few    = lazyregexp.New(`^keep (?:the|our) (?:last|first|latest|newest|oldest|old|other|second|rest|original)\b`)
	styles = lazyregexp.New(`^(?:(?:every|each) (?:[\pL-]+ ){1,6}(?:needs|gets|goes|belongs|starts|ends|uses)|(?:always )?(?:answer|reply|respond|write|speak|talk|comment|document)(?: to me| everything| comments?| docs?| code| commit messages)* (?:only )?in [a-z]+|show (?:all )?(?:numbers|amounts|prices|dates|times|results|values)|(?:only|just) (?:email|call|write|use|commit|push|deploy|answer|reply|text|quote|edit|touch|change)|use [^,]{1,40} (?:instead of|rather than|and not|everywhere|throughout|only|for (?:all|every|new))|use only|exclude|prefer|stick (?:to|with)|` +
		`keep (?:the|our|all|every|your|its|my) |address me|call me |sign (?:all|every)|` +
		`antworte(?:t|n sie)? (?:mir )?(?:bitte )?(?:nur |immer )?auf|schreib[et]? (?:mir )?(?:alles |kommentare )?(?:nur )?auf|nur noch|réponds|répondez|écris en|responde (?:siempre )?en|responda (?:sempre )?em|escribe en|escreva em)`)
	// lastOnly is an order that ends in the word that makes it one: "in the last paragraph only".
	lastOnly = lazyregexp.New(`^[\pL]+ .* only[.!]?$`)
	// moment are words of orders for the moment.
	moment = wordsOf(`let's|lets|let us|let me|for now|right now|just now|not now|for the moment|this time|just this once|for once|today|tonight|at the moment|just yet|not yet|real quick|for this (?:one|commit|time)|in this (?:branch|commit|pr)|` +
		`diesmal|dieses mal|heute|gerade|vorerst|fürs erste|erst mal|erstmal|noch nicht|immer noch|pour l'instant|pour le moment|cette fois|aujourd'hui|por ahora|esta vez|hoy|por enquanto|desta vez|hoje`)
	// subjects begin clauses that tell about somebody or something.
	subjects = atStart(`i|i'm|i've|i'd|i'll|it|it's|its|he|she|they|they're|we've|we're|this|that|that's|these|those|there|there's|here|what|why|how|who|which|if|when i|though|although|because|since|should|shouldn't|could|couldn't|would|wouldn't|can|can't|does|doesn't|did|didn't|is|isn't|are|aren't|was|were|do (?:we|you|i|they)|maybe|perhaps|seems|looks|yours?|my|his|her|` +
		`ich|er|sie|es|wir|das|dies|diese[rs]?|man|weil|wenn|wie|warum|vielleicht|offenbar|je|j'ai|il (?:est|a|y)|elle|on|nous|ils|ça|c'est|cela|ce|parce|peut-être|yo|él|ella|eso|esto|es|está|hay|porque|quizá|creo|eu|ele|ela|isso|isto|é|está|acho|talvez|` +
		`(?:the|a|an|der|die|ein|eine|le|la|les|un|une|el|los|las|o|a|os|as|um|uma) [\pL-]+ (?:is|are|was|were|has|had|does|did|ist|sind|war|hat|wird|est|sont|es|son|é|são)`)
	// wanting begins what somebody wants of the reader, though it tells.
	wanting = atStart(`(?:i|we) (?:want|need|expect|would like|'d like|prefer)(?: you)?|i'd (?:like|prefer)|you (?:must|should|may|can|have to|are)|we (?:must|(?:always|never|only) (?:use|commit|push|write|deploy|merge|want))|(?:this|it|they|these) (?:must|may) (?:not|never|always|only|be [a-z]+ed)|` +
		`ich (?:will|möchte|erwarte)|du (?:musst|sollst|darfst)|sie (?:müssen|dürfen|sollen)|es (?:darf|muss)|das (?:darf|muss)|wir (?:müssen|dürfen|verwenden|nutzen)|man darf|je veux|tu (?:dois|ne dois)|vous (?:devez|ne devez)|il (?:faut|ne faut)|on (?:doit|ne doit)|nous (?:devons|n'utilisons)|quiero|debes|você deve|quero`)
)

// questions begin a sentence that asks, whether or not it has a question mark.
var questions = atStart(`why|what|what's|who|whose|where|how|which|is|are|isn't|aren't|was|were|does|doesn't|did|didn't|do (?:we|you|i|they)|should|shouldn't|could|couldn't|would|wouldn't|can|can't|will|has|have (?:we|you|i|they)`)

// logged begins a line that a program printed.
var logged = lazyregexp.New(`^(?i:warn(?:ing)?|error|fatal|hint|info|debug|panic|note: this|traceback)\b ?[:\]|]|^(?i:at) \S+[(:]`)

// asking reports whether a sentence asks, or was never an order.
func asking(s string) bool {
	if logged.MatchString(s) || questions.MatchString(leads.ReplaceAllString(strings.ToLower(s), "")) {
		return true
	}
	s = strings.TrimRight(s, " \"'”’)）")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.ContainsAny(s, "？") || strings.Contains(s, "? ") ||
		strings.HasSuffix(s, "吗") || strings.HasSuffix(s, "呢") || strings.HasSuffix(s, "か") || strings.HasSuffix(s, "か。")
}

// mayOrder reports whether a sentence in small letters has a word without which it is no standing order. Most have none,
// and are told apart in one pass.
var mayOrder = lazyregexp.MayMatch(wholes, everFirst, forbidding, banned, styles, lastOnly, ever, duty)

// eastern reports whether two characters of Chinese or Japanese stand beside each other in s.
func eastern(s string) bool {
	before := false
	for _, r := range s {
		is := r >= utf8.RuneSelf && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		if is && before {
			return true
		}
		before = is
	}
	return false
}

// unnamed puts an "x" for each word of s that is no word of a language, such as a path, an identifier or a version, and for
// code between backquotes.
func unnamed(s string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		end, named := i, false
		if s[i] == '`' {
			end, named = quoted(s, i)
		} else {
			end, named = nameEnd(s, i)
		}
		if named {
			b.WriteString(s[done:i])
			b.WriteByte('x')
			done = end
		}
		i = max(end, i+1)
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

// mostQuoted is how many characters between backquotes are a name.
const mostQuoted = 60

// quoted returns the end of the code between backquotes that begins at i, and whether there is any.
func quoted(s string, i int) (end int, named bool) {
	n := 0
	for k, r := range s[i+1:] {
		if r == '`' && n > 0 {
			return i + 1 + k + 1, true
		}
		if n++; r == '`' || n > mostQuoted {
			break
		}
	}
	return i, false
}

// nameEnd returns the end of the name that begins at i, if one does, and otherwise that of the letters, digits and joints
// there. A name has a digit or a joint, "_", "/" or "@", before its last letter or digit.
func nameEnd(s string, i int) (end int, named bool) {
	first, last := -1, -1 // of what makes it one; behind its last letter or digit
	for end = i; end < len(s); {
		r, n := utf8.DecodeRuneInString(s[end:])
		whole := unicode.IsLetter(r) || unicode.IsDigit(r) && r < utf8.RuneSelf || r == '_'
		if !whole && r != '.' && r != '/' && r != '@' && r != '-' {
			break
		}
		if first < 0 && r < utf8.RuneSelf && (r == '_' || r == '/' || r == '@' || r >= '0' && r <= '9') {
			first = end
		}
		if whole {
			last = end
		}
		end += n
	}
	if first < 0 || first >= last {
		return end, false
	}
	_, n := utf8.DecodeRuneInString(s[last:])
	return last + n, true
}

// westernOrder reports whether a clause in small letters is a standing order.
func westernOrder(c string) bool {
	if c == "" || moment.MatchString(c) {
		return false
	}
	if subjects.MatchString(c) {
		if !wanting.MatchString(c) {
			return false
		}
		return ever.MatchString(c) || duty.MatchString(c) && !strings.HasPrefix(c, "i ")
	}
	switch {
	case everFirst.MatchString(c):
		return len(strings.Fields(c)) > 2 && !happened.MatchString(c)
	case forbidding.MatchString(c):
		return len(strings.Fields(c)) > 2 && !pronouns.MatchString(c)
	case banned.MatchString(c):
		_, rest, _ := strings.Cut(c, " ")
		word, _, _ := strings.Cut(rest, " ")
		return !replies[strings.Trim(word, ".,;:!?")]
	case few.MatchString(c):
		return false
	case styles.MatchString(c), lastOnly.MatchString(c):
		return true
	case ever.MatchString(c):
		return wanting.MatchString(c) || commands.MatchString(c) || duty.MatchString(c)
	}
	return duty.MatchString(c) && len(strings.Fields(c)) > 2
}

var (
	kana = lazyregexp.New(`[\p{Hiragana}\p{Katakana}]`)

	japanese = lazyregexp.New(`(?:必ず|絶対に|決して|常に|いつも|毎回|今後|これから(?:は|も|の)|以後|一切|原則|(?:だけ|のみ)(?:を|に|で)?(?:使|し|書|返|変)|ないで(?:ください|下さい)|しないこと|ないこと|してはいけ|てはならない|禁止|厳禁|不可とする|ないように(?:して|する|お願い))`)
	demands  = lazyregexp.New(`(?:ください|下さい|こと|ように|お願いします|しろ|な|禁止|厳禁|いけません|いけない|ならない|なりません|べき(?:です)?|して|のみ|だけ|ないで|する|て)(?:ね|よ)?[。！!. ]*$`)
	told     = lazyregexp.New(`(?:ました|でした|ています|ている|だった|と思います|でしょう|ません)[。！!. ]*$`)

	chinese  = lazyregexp.New(`(?:(?:所有|每个|任何|全部).*(?:先|都|必须|需要|要)|始终|总是|永远|从不|绝不|绝对不|不要|不得|不准|禁止|严禁|切勿|勿|务必|必须|必需|一律|以后|今后|从现在起|从今|每次|都要|都用|都不要|只能|只用|只准|千万|默认|不许|别再|别用|别动|请勿|统一|不可以|不能(?:动|改|碰|用|删)|一定要|优先使用|避免|不用(?:.{0,6})(?:浮点|表格))`)
	zhMoment = lazyregexp.New(`(?:暂时|先不|这次|今天|现在先|目前|刚才|还没|了。?$|不要紧|不要了|以后再说|必须是.*(?:问题|原因))`)
	zhTold   = lazyregexp.New(`^(?:我(?:不|总|一直|必须|以后|永远|们总|从不|每次)|他|她|它|这|那|因为|为什么|怎么|如果.*就好)`)
	zhObject = lazyregexp.New(`(?:不要|别)(?:它|这个|那个|这样|那样|担心|紧|急)`)
)

// easternOrder reports whether a sentence in Chinese or Japanese is a standing order.
func easternOrder(s string) bool {
	if kana.MatchString(s) {
		return japanese.MatchString(s) && demands.MatchString(s) && !told.MatchString(s)
	}
	return slices.ContainsFunc(zhClauses.Split(s, -1), func(c string) bool {
		return chinese.MatchString(c) && !tells(c) && !zhMoment.MatchString(c) && !zhTold.MatchString(c) && !zhObject.MatchString(c)
	})
}

var zhClauses = lazyregexp.New(`[，,：:；;]`)
