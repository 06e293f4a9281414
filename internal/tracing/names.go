package tracing

import "go.opentelemetry.io/otel/attribute"

// Names by the semantic conventions of HTTP (stable).
const (
	httpMethod       = attribute.Key("http.request.method")
	httpRoute        = attribute.Key("http.route")
	httpStatus       = attribute.Key("http.response.status_code")
	httpRequestSize  = attribute.Key("http.request.body.size")
	httpResponseSize = attribute.Key("http.response.body.size")
	httpResend       = attribute.Key("http.request.resend_count")
	urlScheme        = attribute.Key("url.scheme")
	urlTemplate      = attribute.Key("url.template")
	protocolVersion  = attribute.Key("network.protocol.version")
	serverAddress    = attribute.Key("server.address")
	serverPort       = attribute.Key("server.port")
	errorType        = attribute.Key("error.type")
)

// Names by the semantic conventions of generative AI. These are in development, so the names are only here.
const (
	aiOperation    = attribute.Key("gen_ai.operation.name")
	aiProvider     = attribute.Key("gen_ai.provider.name")
	aiModel        = attribute.Key("gen_ai.request.model")
	aiConversation = attribute.Key("gen_ai.conversation.id")
	aiFirstChunk   = attribute.Key("gen_ai.response.time_to_first_chunk")
	aiInput        = attribute.Key("gen_ai.usage.input_tokens")
	aiOutput       = attribute.Key("gen_ai.usage.output_tokens")
	aiCacheRead    = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	aiCacheWrite   = attribute.Key("gen_ai.usage.cache_creation.input_tokens")
)

// Decant's own.
const (
	requestID      = attribute.Key("decant.request.id")
	conversationID = attribute.Key("decant.conversation.id")
	tenantName     = attribute.Key("decant.tenant")
	presetName     = attribute.Key("decant.preset")
	outcomeName    = attribute.Key("decant.outcome")
	refusedReason  = attribute.Key("decant.refused.reason")
	clientLeft     = attribute.Key("decant.client_left")
	wasCut         = attribute.Key("decant.cut")
	hasFault       = attribute.Key("decant.fault")
	relationName   = attribute.Key("decant.relation")
	messageCount   = attribute.Key("decant.messages")
	tokensBefore   = attribute.Key("decant.tokens.before")
	tokensAfter    = attribute.Key("decant.tokens.after")
	tokensLeftOut  = attribute.Key("decant.tokens.left_out")
	tokensFreed    = attribute.Key("decant.tokens.freed")
	pourReason     = attribute.Key("decant.pour.reason")
	pourRoute      = attribute.Key("decant.pour.route")
	planReason     = attribute.Key("decant.planned.reason")
	planTokens     = attribute.Key("decant.planned.tokens")
	decisionPrefix = "decant.decisions." // and the kind: how many there were
	blockCount     = attribute.Key("decant.blocks")
	requestCount   = attribute.Key("decant.requests")
)
