package chatserver

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/decantdev/decant/apps/chat/internal/receipt"
)

// getWhy answers with what an answer rests on.
func (h *messageAPI) getWhy(w http.ResponseWriter, r *http.Request, tenant string) error {
	rm, err := h.rooms.roomOf(r, tenant)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		return invalid(fmt.Errorf("the index of a message is a number: %q", r.PathValue("n")))
	}
	m, err := rm.session.Moment(r.Context(), h.rooms.opts.Store, n)
	if err != nil {
		return err
	}
	write(w, http.StatusOK, receipt.Of(m))
	return nil
}
