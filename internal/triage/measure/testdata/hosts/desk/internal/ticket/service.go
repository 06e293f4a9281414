package ticket

import (
	"github.com/acme/desk/internal/calendar"
	"github.com/acme/desk/internal/mail"
	"github.com/acme/desk/internal/people"
	"github.com/acme/desk/internal/plan"
	"github.com/acme/desk/internal/report"
)

// A Service does what is asked for.
type Service struct {
	desk *Desk
	who  *people.Directory
	ops  map[string]func() error
}

// NewService returns a service with a few tickets.
func NewService() *Service {
	ada := &people.Person{Login: "ada", Mail: "ada@example.com", Team: &people.Team{Name: "core"}, Away: &people.Away{Until: "Friday"}, Shift: []int{8, 9}}
	bob := &people.Person{Login: "bob", Mail: "bob@example.com"}
	s := &Service{who: people.NewDirectory(ada, bob)}
	s.desk = &Desk{byID: map[string]*Ticket{}, who: s.who}
	first := &Ticket{ID: "T1", Owner: ada, Tags: []string{"vpn", "mac"}}
	s.desk.Add(first)
	s.desk.Add(&Ticket{ID: "T2", Next: first})
	s.ops = map[string]func() error{"people": s.people, "tickets": s.tickets, "plans": s.plans, "mail": s.mail, "days": s.days,
		"team": s.team, "deputy": s.deputy, "tags": s.tags, "assign": s.assign, "merge": s.merge, "upgrade": s.upgrade, "seats": s.seats,
		"between": s.between, "region": s.region, "flush": mail.Flush, "dial": mail.Dial, "lock": calendar.Lock, "load": calendar.Load, "title": s.title, "login": s.login, "next": s.next,
		"nobody": s.nobody, "hour": s.hour, "slots": s.slots, "share": s.share, "left": s.left, "count": s.count, "logins": s.logins,
		"pay": func() error { return plan.NewTill().Pay() }, "refund": func() error { return plan.NewTill().Refund() }, "audit": plan.Audit}
	return s
}

// Do does one operation.
func (s *Service) Do(op string) error {
	f := s.ops[op]
	if f == nil {
		return report.Errorf("UnknownOperation", "there is no operation %q", op)
	}
	return f()
}

func (s *Service) people() error {
	s.who.At(2)
	s.who.Newest()
	return nil
}

func (s *Service) logins() error {
	s.who.Logins()
	return nil
}

func (s *Service) nobody() error {
	s.who.Mail("eve")
	return nil
}

func (s *Service) hour() error {
	s.who.Hour(s.who.Find("ada"), 2)
	return nil
}

func (s *Service) team() error {
	s.who.TeamName("bob")
	s.who.TeamName("eve")
	return nil
}

func (s *Service) deputy() error {
	s.who.Deputy(s.who.Find("bob"))
	s.who.Deputy(s.who.Find("ada"))
	return nil
}

func (s *Service) tickets() error {
	s.desk.At(s.desk.Find("T1"), 2)
	return nil
}

func (s *Service) count() error {
	s.desk.Count()
	return nil
}

func (s *Service) tags() error {
	s.desk.At(s.desk.Find("T2"), 0)
	return nil
}

func (s *Service) title() error {
	s.desk.Title("T9")
	return nil
}

func (s *Service) login() error {
	s.desk.Login(s.desk.Find("T2"))
	return nil
}

func (s *Service) next() error {
	s.desk.Following("T1")
	s.desk.Following("T9")
	return nil
}

func (s *Service) assign() error {
	id, login := "T2", "bob"
	return s.desk.Assign(id, login)
}

func (s *Service) merge() error {
	older, newer := s.desk.Find("T1"), s.desk.Find("T2")
	return s.desk.Merge(older, newer)
}

func (s *Service) upgrade() error {
	old, wanted := "basic", "gold"
	_, err := plan.Upgrade(old, wanted)
	return err
}

func (s *Service) seats() error {
	from, to := 3, 7
	_, err := plan.Range(from, to)
	return err
}

func (s *Service) between() error {
	first, last := 1, 3
	_, err := calendar.Between(first, last)
	return err
}

func (s *Service) mail() error {
	sender, receiver := "ada", s.who.Mail("bob")
	return mail.Send(sender, receiver, "Hello.")
}

func (s *Service) plans() error {
	plan.Hours("silver", 20)
	return nil
}

func (s *Service) share() error {
	plan.Share("silver", 20)
	return nil
}

func (s *Service) region() error {
	plan.RegionName("asia")
	return nil
}

func (s *Service) left() error {
	plan.Seats("asia", 2)
	return nil
}

func (s *Service) days() error {
	calendar.Day(5)
	calendar.Last()
	calendar.Pairs()
	return nil
}

func (s *Service) slots() error {
	calendar.Slots([]int{0, 1})
	return nil
}
