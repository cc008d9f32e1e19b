package pawl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

// Failure is an error of a handler with a cause that policies and people see. Make one with Fail. Any other error that a handler returns has
// the cause provider_error, or user_timeout if a time limit of the handler or of a library passed.
type Failure struct {
	cause      string
	message    string
	permanent  bool
	retryAfter time.Duration
	details    any
}

// Fail makes a failure. The cause is one of Pawl, or your own with a dot in it, such as acme.card_declined.
func Fail(cause, message string) *Failure { return &Failure{cause: cause, message: message} }

// Permanent means that the node is not retried, even if its policy allows it.
func (f *Failure) Permanent() *Failure {
	f.permanent = true
	return f
}

// RetryAfter asks that a retry waits at least this long, up to an hour.
func (f *Failure) RetryAfter(d time.Duration) *Failure {
	f.retryAfter = d
	return f
}

// Details adds a value that encodes to JSON.
func (f *Failure) Details(value any) *Failure {
	f.details = value
	return f
}

func (f *Failure) Error() string { return f.cause + ": " + f.message }

func (f *Failure) wire() *handlerv1.Failure {
	failure := &handlerv1.Failure{
		Cause: strings.ToValidUTF8(f.cause, "\uFFFD"), Message: f.message, Permanent: f.permanent,
		RetryAfterMs: uint64(max(0, f.retryAfter.Milliseconds())),
	}
	if f.details != nil {
		details, err := encode(f.details)
		if err != nil {
			failure.Message += fmt.Sprintf(" (its details are not JSON: %v)", err)
		}
		failure.DetailsJson = strings.ToValidUTF8(string(details), "\uFFFD")
	}
	return failure
}

// failureOf is the failure of any error. where names the function that returned it.
func failureOf(err error, where []string) *Failure {
	var failure *Failure
	if errors.As(err, &failure) {
		return failure
	}
	cause := "provider_error"
	if isTimeout(err) {
		cause = "user_timeout"
	}
	return Fail(cause, fmt.Sprintf("%T: %v", err, err)).Details(frames{where})
}

// isTimeout reports whether an error, or one that it wraps, means that a time limit passed. It may be of a context, a socket, a client of HTTP
// or an RPC. The context of a handler has no deadline of Pawl's, so such a limit is the handler's own.
func isTimeout(err error) bool {
	var timed interface{ Timeout() bool }
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	return errors.As(err, &timed) && timed.Timeout() || status.Code(err) == codes.DeadlineExceeded
}

func failureOfPanic(value any) *Failure {
	return Fail("provider_error", fmt.Sprintf("panic: %v", value)).Details(frames{stack()})
}

type frames struct {
	Frames []string `json:"frames"`
}

const framesMax = 10

// stack names the functions above a panic, the newest first. The three newest are of the recovery itself.
func stack() []string {
	pcs := make([]uintptr, framesMax)
	found := runtime.CallersFrames(pcs[:runtime.Callers(5, pcs)])
	var names []string
	for {
		frame, hasMore := found.Next()
		names = append(names, place(frame.Function, frame.File, frame.Line))
		if !hasMore {
			return names
		}
	}
}

// place has the name of the file only: folders are of the machine that built the program.
func place(function, file string, line int) string {
	return fmt.Sprintf("%s (%s:%d)", function, path.Base(file), line)
}

func placeOf(pc uintptr) []string {
	function := runtime.FuncForPC(pc)
	if function == nil {
		return nil
	}
	file, line := function.FileLine(pc)
	return []string{place(function.Name(), file, line)}
}
