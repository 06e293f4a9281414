package summary

// headings are the titles of the sections, in English and Chinese. They are read back by fold.
var headings = [2][sections]string{
	{"User", "Decisions", "Open", "Errors", "Progress", "Files", "Commands", "Excerpts", "Tools", "Names and fragments", "Last"},
	{"用户", "决定", "未完成", "错误", "经过", "文件", "命令", "摘录", "工具", "名称与片段", "最近"},
}

// notes say on the first line what the text is.
var notes = [2]string{", not the user's words]", "，对话记录，并非用户的话]"}

// language returns the index of the language of the headings.
func (d *digest) language() int {
	if d.chinese {
		return 1
	}
	return 0
}

// sectionNamed returns the section that has the heading s.
func sectionNamed(s string) (section, bool) {
	if s == alsoHeading {
		return secNames, true
	}
	for _, hs := range headings {
		for i, h := range hs {
			if h == s {
				return section(i), true
			}
		}
	}
	return 0, false
}

// isChinese reports whether the lines of user and model, or all lines where they said nothing, are
// mostly Chinese: every eighth character or more, since names and code are Latin in any language.
func (d *digest) isChinese() bool {
	han, latin := 0, 0
	for i := range d.lines {
		switch d.groups[d.lines[i].group].section {
		case secUser, secDecided, secOpen, secSaid, secLast:
			for _, r := range d.lines[i].text {
				switch {
				case r >= 0x4e00 && r <= 0x9fff:
					han++
				case r < 0x80 && r|0x20 >= 'a' && r|0x20 <= 'z':
					latin++
				}
			}
		}
	}
	return han > 0 && han*6 > latin
}
