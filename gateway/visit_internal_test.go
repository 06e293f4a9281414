package gateway

import (
	"net/http/httptest"
	"testing"
)

// A request whose key nobody has looked at belongs to no tenant, not to the one without a name.
func TestWhatPassedNoDoorIsNobodys(t *testing.T) {
	r := httptest.NewRequest("POST", "/v1/messages", nil)
	if tenant, err := tenantOf(r); err == nil {
		t.Errorf("it is taken for one of tenant %q", tenant)
	}
	for _, name := range []string{"", "alice"} {
		tenant, err := tenantOf(r.WithContext(with(r.Context(), &visit{tenant: name})))
		if tenant != name || err != nil {
			t.Errorf("a request of %q is one of %q, %v", name, tenant, err)
		}
	}
}
