package sandbox

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
)

// What the server hands out and nobody else can read is sealed: reasoning, and what a compaction stands for. It begins
// with a letter that says which of the two it is.
const (
	sealReasoning  = 'r'
	sealCompaction = 'c'
)

// box returns the cipher of sealed contents.
func (s *Server) box() cipher.AEAD {
	key := sha256.Sum256(append([]byte("items "), s.secret...))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // only for keys of another length
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // only for blocks of another size
	}
	return box
}

// enclose seals a content, the same content always alike.
func (s *Server) enclose(content []byte) string {
	nonce := code(s.secret, content, "nonce")[:12]
	return base64.StdEncoding.EncodeToString(s.box().Seal(nonce, nonce, content, nil))
}

// disclose opens what enclose has sealed, if it is of a kind.
func (s *Server) disclose(sealed string, kind byte) ([]byte, bool) {
	b, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil || len(b) < 12 {
		return nil, false
	}
	b, err = s.box().Open(nil, b[:12], b[12:], nil)
	return b, err == nil && len(b) > 0 && b[0] == kind
}

// sealThought seals reasoning with what it is bound to.
func (s *Server) sealThought(account string, q *input, text string) string {
	made := seal{model: short(q.model.ID), bound: since(q.model.ID, 6, 2), system: short(account)}
	made.tools = short(q.body.str("safety_identifier")) // the places of what reasoning of this API is not bound to by itself
	made.before, made.last = [16]byte(q.chain.before[:16]), q.settled()
	return s.enclose(slices.Concat([]byte{sealReasoning}, made.bytes(), []byte(text)))
}

// sealSummary seals a summary of all that is shown, and behind what reasoning stays valid: last what it stands for.
func (s *Server) sealSummary(q *input, text string) string {
	hashes := append(slices.Clone(q.chain.earlier), q.chain.before)
	hashes = hashes[max(0, len(hashes)-maxClosed):]
	b := []byte{sealCompaction, byte(len(hashes))}
	for _, h := range hashes {
		b = append(b, h[:]...)
	}
	return s.enclose(append(b, text...))
}

// unsealSummary returns what a compaction says.
func (s *Server) unsealSummary(sealed string) (text string, hashes [][sha256.Size]byte, ok bool) {
	b, ok := s.disclose(sealed, sealCompaction)
	if !ok || len(b) < 2+sha256.Size || len(b) < 2+sha256.Size*int(b[1]) {
		return "", nil, false
	}
	n := int(b[1])
	for b = b[2:]; n > 0; n-- {
		hashes, b = append(hashes, [sha256.Size]byte(b)), b[sha256.Size:]
	}
	return string(b), hashes, true
}

// settled returns what stands for the parameters that reasoning is bound to.
func (q *input) settled() [16]byte {
	h := mix(sha256.Sum256([]byte(q.settings())), blocksOf(q.body.get("tools").list()))
	return [16]byte(h[:16])
}

// Items are the same to the server when what the model reads of them is.
var itemCanon = canon{skip: []string{
	"id", "status", "created_by", "internal_chat_message_metadata_passthrough", "prompt_cache_breakpoint", "annotations", "logprobs",
}}

// unveil finds out what the model reads of the items: without those that a compaction stands for, and without
// reasoning that is not in its place.
func (s *Server) unveil(account string, q *input) *apiError {
	q.begin()
	q.addTools(q.body.get("tools").list(), "")
	turn := q.lastTurn()
	for i, n := range q.items {
		it := shownItem{node: n, path: q.paths[i]}
		switch it.kindOf() {
		case "compaction_trigger":
			q.compacts = true
			continue
		case "reasoning":
			why, err := s.unveilThought(account, q, &it, i < turn)
			if err != nil {
				return err
			}
			if why != "" {
				q.gone = append(q.gone, object{"id", it.str("id"), "action", "removed", "reason", why, "type", "reasoning"})
				continue
			}
		case "compaction":
			text, hashes, ok := s.unsealSummary(n.str("encrypted_content"))
			if !ok {
				return unverified(n)
			}
			q.hide(hashes[len(hashes)-1])
			it.text = text
			q.show(it)
			q.chain.earlier = hashes
			continue
		case "additional_tools", "tool_search_output":
			q.addTools(n.get("tools").list(), "")
		}
		q.show(it)
	}
	return nil
}

// begin forgets what is shown.
func (q *input) begin() {
	q.chain = &chain{canon: itemCanon}
	q.shown, q.covers = nil, []prefix{{}}
}

// hide leaves out the items that a compaction stands for, where they are sent once more. What the client has put
// between them and the compaction is live.
func (q *input) hide(of prefix) {
	for k, c := range slices.Backward(q.covers) {
		if k > 0 && c == of {
			live := q.shown[k:]
			q.begin()
			for _, it := range live {
				q.show(it)
			}
			return
		}
	}
}

// blocksOf writes definitions of tools without differences that mean nothing.
func blocksOf(ns []*node) (out []byte) {
	for _, n := range ns {
		out = canon{}.block(out, n)
	}
	return out
}

// show goes on over an item that the model reads.
func (q *input) show(it shownItem) {
	if q.shown = append(q.shown, it); it.kindOf() != "reasoning" {
		q.chain.pass(it.str("role"), it.node)
	}
	q.covers = append(q.covers, q.chain.before)
}

// unveilThought decides about one item of reasoning: it is read, taken out for a reason, or refused.
func (s *Server) unveilThought(account string, q *input, it *shownItem, earlierTurn bool) (why string, err *apiError) {
	sealed := it.str("encrypted_content")
	if sealed == "" {
		return "", lost(it.str("id"))
	}
	b, ok := s.disclose(sealed, sealReasoning)
	if !ok || len(b) < 1+sealedSize {
		return "", unverified(it.node)
	}
	made := unpack(b[1:])
	it.text = string(b[1+sealedSize:])
	switch bound := made.bound || since(q.model.ID, 6, 2); {
	case earlierTurn && q.body.get("reasoning").str("context") == "current_turn":
		return "turn_boundary", nil
	case !bound:
		return "", nil
	case made.system != short(account):
		return "organization_mismatch", nil
	case made.tools != short(q.body.str("safety_identifier")):
		return "end_user_mismatch", nil
	case made.model != short(q.model.ID):
		return "model_mismatch", nil
	case !q.chain.follows(made.before), made.last != q.settled():
		return "prefix_mismatch", nil
	}
	return "", nil
}

// lost refuses an item that the server does not have.
func lost(id string) *apiError {
	return &apiError{
		status: http.StatusNotFound, kind: kindInvalid, param: "input",
		message: "Item with id '" + id + "' not found. Items are not persisted when `store` is set to false. " +
			"Try again with `store` set to true, or remove this item from your input.",
	}
}

// lastTurn returns the position of the last message of the user.
func (q *input) lastTurn() int {
	for i, n := range slices.Backward(q.items) {
		if n.str("role") == "user" {
			return i
		}
	}
	return 0
}

// unverified refuses a content that the server did not seal.
func unverified(n *node) *apiError {
	return about("input", "invalid_encrypted_content",
		"The encrypted content for item %s could not be verified. Reason: Encrypted content could not be decrypted or parsed.", n.str("id"))
}
