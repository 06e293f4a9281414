// Package people knows who works here.
package people

// A Person works here.
type Person struct {
	Login string
	Mail  string
	Team  *Team
	Away  *Away
	Shift []int
}

// A Team is some people.
type Team struct {
	Name string
	Lead *Person
}

// Away is when somebody is not here.
type Away struct {
	Until  string
	Deputy *Person
}

// A Directory holds the people by their logins.
type Directory struct {
	byLogin map[string]*Person
	order   []*Person
}

// NewDirectory returns a directory of people.
func NewDirectory(people ...*Person) *Directory {
	d := &Directory{byLogin: map[string]*Person{}, order: people}
	for _, p := range people {
		d.byLogin[p.Login] = p
	}
	return d
}

// Find returns a person, nil for nobody.
func (d *Directory) Find(login string) *Person {
	p, ok := d.byLogin[login]
	if !ok {
		return nil
	}
	return p
}

// Mail returns an address, empty for nobody.
func (d *Directory) Mail(login string) string {
	p := d.Find(login)
	if p == nil {
		return ""
	}
	return p.Mail
}

// TeamName returns the name of somebody's team.
func (d *Directory) TeamName(login string) string {
	p := d.Find(login)
	if p == nil {
		return "nobody"
	}
	team := d.teamOf(p)
	if team == nil {
		return "no team"
	}
	return team.Name
}

// teamOf returns the team of somebody who has one.
func (d *Directory) teamOf(p *Person) *Team {
	if p.Team == nil || p.Team.Name == "" {
		return nil
	}
	return p.Team
}

// Deputy returns who stands in for somebody.
func (d *Directory) Deputy(p *Person) string {
	if p.Away == nil {
		return p.Login
	}
	deputy := p.Away.Deputy
	if deputy == nil {
		return ""
	}
	return deputy.Login
}

// At returns somebody by their place in the list, nil behind its end.
func (d *Directory) At(n int) *Person {
	if n >= len(d.order) {
		return nil
	}
	return d.order[n]
}

// Logins returns all logins.
func (d *Directory) Logins() (out []string) {
	for i := 0; i < len(d.order); i++ {
		out = append(out, d.order[i].Login)
	}
	return out
}

// Newest returns who has come last.
func (d *Directory) Newest() *Person {
	return d.order[len(d.order)-1]
}

// Hour returns when somebody's shift of a day begins.
func (d *Directory) Hour(p *Person, day int) int {
	if day >= len(p.Shift) {
		return 9
	}
	return p.Shift[day]
}
