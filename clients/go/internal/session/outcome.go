package session

import (
	"fmt"
	"strings"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

// Outcome is how a function ended: with a result or with a failure.
type Outcome struct {
	Result  *handlerv1.Result
	Failure *handlerv1.Failure
}

// item checks the sizes of an outcome.
func (o Outcome) item(id string, limits *handlerv1.Limits) *handlerv1.ProcessItem {
	if o.Failure == nil {
		o.Result.InvocationId = id
		o.Result.OutputJson = strings.ToValidUTF8(o.Result.GetOutputJson(), "\uFFFD")
		size, limit := uint64(len(o.Result.GetOutputJson())), limits.GetOutputBytes()
		if limit == 0 || size <= limit {
			return &handlerv1.ProcessItem{Item: &handlerv1.ProcessItem_Result{Result: o.Result}}
		}
		message := fmt.Sprintf("the output has %d bytes, at most %d", size, limit)
		o.Failure = &handlerv1.Failure{Cause: "output_too_large", Message: message, Permanent: true}
	}
	failure := o.Failure
	failure.InvocationId = id
	failure.Message = strings.ToValidUTF8(failure.GetMessage(), "\uFFFD")
	if limit := int(limits.GetFailureBytes()); limit > 0 && len(failure.GetMessage())+len(failure.GetDetailsJson()) > limit {
		// Details cannot be cut. The message counts more than they do.
		failure.DetailsJson = ""
		failure.Message = cut(failure.GetMessage(), limit)
	}
	return &handlerv1.ProcessItem{Item: &handlerv1.ProcessItem_Failure{Failure: failure}}
}
