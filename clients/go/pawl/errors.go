package pawl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	errorsv1 "pawl.dev/sdk/go/gen/pawl/errors/v1"
	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// Reasons that no server names.
const (
	// Unreachable means that no Pawl server answered.
	Unreachable = "UNREACHABLE"
	// Unrecognised means that the server gave a reason that this client does not know, or none.
	Unrecognised = "UNRECOGNISED"
)

// Violation is one broken rule of a definition or of a request.
type Violation struct {
	// Path is the place: nodes[3].config.timeout_ms.
	Path string
	// Reason is the rule, UPPER_SNAKE.
	Reason string
	// Message is for people.
	Message string
}

// Error is the error of every call. Use errors.As, and switch on Reason.
type Error struct {
	// Reason is one of pawl.errors.v1.Reason without its prefix, such as RUN_NOT_FOUND; or Unreachable or Unrecognised.
	Reason string
	// ServerReason is the reason in the server's spelling, known to this client or not. Empty if no server named one.
	ServerReason string
	// Code is the canonical gRPC code.
	Code codes.Code
	// Message is for people.
	Message string
	// Metadata has the variable parts of the message, for machines.
	Metadata map[string]string
	// Violations are all broken rules, for DEFINITION_INVALID, CYCLE_DETECTED and INPUT_INVALID.
	Violations []Violation
	// RetryDelay is how long the server asks the caller to wait. 0 if it does not ask.
	RetryDelay time.Duration
	// Next is the next step that the server advises, for people.
	Next string
	// RequestID is the id to quote when you report an INTERNAL error.
	RequestID string

	mayRetry bool
	cause    error
}

func (e *Error) Error() string { return fmt.Sprintf("pawl: %s: %s", e.Reason, e.Message) }

// Unwrap returns the error of the transport, or of the caller's context.
func (e *Error) Unwrap() error { return e.cause }

// Is reports that an error of the reason DEADLINE_PASSED is context.DeadlineExceeded, also if the server saw the deadline before the caller's
// context did.
func (e *Error) Is(target error) bool {
	return target == context.DeadlineExceeded && e.Reason == "DEADLINE_PASSED"
}

// Retryable reports whether the same call may succeed later without a change by the caller.
func (e *Error) Retryable() bool {
	return e.mayRetry || e.Reason == Unreachable || e.Code == codes.Unavailable
}

// errorFrom turns any error of a call into an *Error. The server names the reason in google.rpc.ErrorInfo. Without one the call never
// reached a Pawl server, or its connection broke, and the code decides.
func errorFrom(ctx context.Context, err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	answer := status.Convert(err)
	e := &Error{Code: answer.Code(), Message: answer.Message(), Metadata: map[string]string{}, cause: err}
	for _, detail := range answer.Details() {
		e.addDetail(detail)
	}
	e.Reason = reasonOf(e.Code, e.ServerReason)
	if ctx.Err() != nil && e.ServerReason == "" {
		e.cause = errors.Join(context.Cause(ctx), err)
	}
	return e
}

func (e *Error) addDetail(detail any) {
	switch detail := detail.(type) {
	case *errdetails.ErrorInfo:
		e.ServerReason = detail.GetReason()
		e.Metadata = detail.GetMetadata()
		e.Next = detail.GetMetadata()["next"]
	case *errdetails.RetryInfo:
		e.mayRetry = true
		e.RetryDelay = detail.GetRetryDelay().AsDuration()
	case *errdetails.RequestInfo:
		e.RequestID = detail.GetRequestId()
	case *errdetails.BadRequest:
		for _, broken := range detail.GetFieldViolations() {
			violation := Violation{broken.GetField(), broken.GetReason(), broken.GetDescription()}
			e.Violations = append(e.Violations, violation)
		}
	}
}

var namelessReasons = map[codes.Code]string{
	codes.Canceled:         "CALLER_CANCELLED",
	codes.DeadlineExceeded: "DEADLINE_PASSED",
	codes.Unimplemented:    "UNKNOWN_METHOD",
	codes.PermissionDenied: "FORBIDDEN",
	codes.Unavailable:      Unreachable,
	codes.Aborted:          Unreachable,
}

func reasonOf(code codes.Code, named string) string {
	if named == "" {
		if reason, isKnown := namelessReasons[code]; isKnown {
			return reason
		}
		return Unrecognised
	}
	if value := errorsv1.Reason_value["REASON_"+named]; value == 0 {
		return Unrecognised
	}
	return named
}

// failed makes an error of the client itself.
func failed(reason string, code codes.Code, format string, args ...any) *Error {
	return &Error{Reason: reason, Code: code, Message: fmt.Sprintf(format, args...)}
}

// leftError is the error of a call whose context ended.
func leftError(ctx context.Context) *Error {
	code := status.FromContextError(ctx.Err()).Code()
	e := failed(namelessReasons[code], code, "the caller left: %v; a run that was accepted continues", context.Cause(ctx))
	e.cause = context.Cause(ctx)
	return e
}

// refusalError is the error of a submission that the gateway refused inside a stream.
func refusalError(refusal *pawlv1.Refusal) *Error {
	e := &Error{
		Reason: reasonOf(codes.Code(refusal.GetCode()), refusal.GetReason()), ServerReason: refusal.GetReason(),
		Code: codes.Code(refusal.GetCode()), Message: refusal.GetMessage(), Metadata: refusal.GetMetadata(),
		Next: refusal.GetMetadata()["next"], RequestID: refusal.GetOriginRequestId(),
		mayRetry: refusal.GetRetryDelay() != nil, RetryDelay: refusal.GetRetryDelay().AsDuration(),
	}
	for _, broken := range refusal.GetViolations() {
		e.Violations = append(e.Violations, Violation{broken.GetPath(), broken.GetReason(), broken.GetMessage()})
	}
	return e
}

// isReason reports whether a call failed for the given reason.
func isReason(err error, reason string) bool {
	var e *Error
	return errors.As(err, &e) && e.Reason == reason
}
