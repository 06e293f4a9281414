package sqlite

import (
	"github.com/decantdev/decant/internal/seal"
	"github.com/decantdev/decant/store"
	"github.com/decantdev/decant/store/internal/form"
)

// The places of sealed values. The table in columns.go names the same columns in the same order.

func sessionPlace(tenant string) seal.Place {
	return seal.Place{Column: "conversations.session", Tenant: tenant}
}

// of returns the place of a column in a conversation's row.
func of(k store.Key, column string) seal.Place {
	return seal.Place{Column: column, Tenant: k.Tenant, ID: k.ID}
}

func segmentPlace(k store.Key, version int64, position int) seal.Place {
	return seal.Place{Column: "segments.data", Tenant: k.Tenant, ID: k.ID, Number: version, Version: int64(position)}
}

func packPlace(k store.Key, column string, id int64) seal.Place {
	return seal.Place{Column: column, Tenant: k.Tenant, ID: k.ID, Number: id}
}

func decisionPlace(k store.Key, column, id string, seq, version int64) seal.Place {
	return seal.Place{Column: column, Tenant: k.Tenant, ID: k.ID, Part: id, Number: seq, Version: version}
}

func checkpointPlace(k store.Key, column, decision string, number int64) seal.Place {
	return seal.Place{Column: column, Tenant: k.Tenant, ID: k.ID, Part: decision, Number: number}
}

func requestPlace(k store.Key, column, id string) seal.Place {
	return seal.Place{Column: column, Tenant: k.Tenant, ID: k.ID, Part: id}
}

func findingPlace(f *store.Finding) seal.Place {
	return seal.Place{Column: "findings.value", Tenant: f.Upstream, ID: f.Organization, Part: f.Topic}
}

func memoryPlace(tenant, column, id string) seal.Place {
	return seal.Place{Column: column, Tenant: tenant, ID: id}
}

func evidencePlace(tenant, memory string, seq int64) seal.Place {
	return seal.Place{Column: "confirmations.evidence", Tenant: tenant, ID: memory, Number: seq}
}

func headPlace(k store.Key) seal.Place {
	return seal.Place{Column: "journals.head", Tenant: k.Tenant, ID: k.ID}
}

func stepPlace(k store.Key, seq int64) seal.Place {
	return seal.Place{Column: "journal_steps.data", Tenant: k.Tenant, ID: k.ID, Number: seq}
}

func notePlace(tenant, id string) seal.Place {
	return seal.Place{Column: "tenant_keys.note", Tenant: tenant, ID: id}
}

func actPlace(a *store.Act) seal.Place {
	return seal.Place{Column: "acts.detail", Tenant: a.Tenant, ID: a.Action, Part: a.Target, Number: form.Micros(a.Time)}
}
