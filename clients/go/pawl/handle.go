package pawl

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"time"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
	"pawl.dev/sdk/go/internal/schema"
	"pawl.dev/sdk/go/internal/session"
)

// Handler runs the nodes of one type. Make one with Handle or HandleWithConfig.
type Handler[In, Out any] struct {
	*definition
}

// definition is a handler without its types.
type definition struct {
	nodeType    string
	description string
	stall       time.Duration
	external    bool
	state       bool
	input       schema.Schema
	output      schema.Schema
	config      schema.Schema
	where       []string
	// The first fault of the definition; Serve and RunHandler report it.
	fault error
	call  func(ctx context.Context, input, config []byte) (any, error)
}

// HandlerOption changes how a handler is described.
type HandlerOption func(*definition)

// Describe adds a description for people.
func Describe(text string) HandlerOption { return func(d *definition) { d.description = text } }

// WithState gives the handler the state of its run, as Task.State.
func WithState() HandlerOption { return func(h *definition) { h.state = true } }

// Stall is how long a silent process keeps invocations of this handler. The default is 60 s, the most a day.
func Stall(d time.Duration) HandlerOption { return func(h *definition) { h.stall = d } }

// External says that the outputs of the handler are data from outside, which is not trusted. They get the label external.
func External() HandlerOption { return func(d *definition) { d.external = true } }

// InputSchema gives the JSON Schema of the input as text, instead of the one of its Go type.
func InputSchema(text string) HandlerOption {
	return func(d *definition) { d.give(&d.input, text) }
}

// OutputSchema gives the JSON Schema of the output as text.
func OutputSchema(text string) HandlerOption {
	return func(d *definition) { d.give(&d.output, text) }
}

// ConfigSchema gives the JSON Schema of the config as text.
func ConfigSchema(text string) HandlerOption {
	return func(d *definition) { d.give(&d.config, text) }
}

func (d *definition) give(s *schema.Schema, text string) {
	given, err := schema.Parse(text)
	d.note(err)
	*s = given
}

func (d *definition) note(err error) {
	if d.fault == nil && err != nil {
		d.fault = fmt.Errorf("pawl: handler %s: %w", d.nodeType, err)
	}
}

var nodeTypeName = regexp.MustCompile(`^[A-Za-z0-9-][A-Za-z0-9._-]*(@[0-9]{1,6})?$`)

const nodeTypeMax = 128

// Handle makes a handler of a function. The schemas of its input and output come from the types; see the tag pawl in the README. The context
// ends when the host cancels the work; context.Cause gives *Cancelled.
func Handle[In, Out any](nodeType string, fn func(ctx context.Context, in In) (Out, error), options ...HandlerOption) Handler[In, Out] {
	return define[In, Out](nodeType, fn, schema.Schema{}, options, func(ctx context.Context, in In, _ []byte) (Out, error) {
		return fn(ctx, in)
	})
}

// HandleWithConfig makes a handler whose nodes have a config.
func HandleWithConfig[In, Config, Out any](nodeType string, fn func(ctx context.Context, in In, config Config) (Out, error), options ...HandlerOption) Handler[In, Out] {
	configSchema, err := schema.For(reflect.TypeFor[Config]())
	handler := define[In, Out](nodeType, fn, configSchema, options, func(ctx context.Context, in In, text []byte) (Out, error) {
		var config Config
		if err := decode(text, &config); err != nil {
			var none Out
			return none, Fail("config_invalid", "the config does not fit: "+err.Error()).Permanent()
		}
		return fn(ctx, in, config)
	})
	if handler.config.Text == configSchema.Text {
		handler.note(err)
	}
	return handler
}

func define[In, Out any](nodeType string, fn any, config schema.Schema, options []HandlerOption, run func(context.Context, In, []byte) (Out, error)) Handler[In, Out] {
	d := &definition{nodeType: nodeType, config: config, where: placeOf(reflect.ValueOf(fn).Pointer())}
	if !nodeTypeName.MatchString(nodeType) || len(nodeType) > nodeTypeMax {
		d.note(fmt.Errorf("the name is not valid; write a name such as acme.charge@1 of at most %d characters", nodeTypeMax))
	}
	for _, option := range options {
		option(d)
	}
	d.input = d.infer(d.input, reflect.TypeFor[In]())
	d.output = d.infer(d.output, reflect.TypeFor[Out]())
	d.call = func(ctx context.Context, text, config []byte) (any, error) {
		var in In
		if err := decode(text, &in); err != nil {
			return nil, Fail("input_invalid", "the input does not fit: "+err.Error()).Permanent()
		}
		return run(ctx, in, config)
	}
	return Handler[In, Out]{d}
}

// infer keeps a given schema, and writes the one of the type otherwise.
func (d *definition) infer(given schema.Schema, t reflect.Type) schema.Schema {
	if given.Text != "" {
		return given
	}
	made, err := schema.For(t)
	d.note(err)
	return made
}

// decode reads JSON. An empty text is null.
func decode(text []byte, value any) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	return json.Unmarshal(text, value)
}

func (d *definition) descriptor() *handlerv1.Handler {
	return &handlerv1.Handler{
		Type: d.nodeType, Description: d.description, StallMs: uint64(max(0, d.stall.Milliseconds())),
		State:       d.state,
		InputSchema: d.input.Text, OutputSchema: d.output.Text, ConfigSchema: d.config.Text,
		External: d.external,
	}
}

// run checks input and config, calls the function and checks its output. A panic is a failure.
func (d *definition) run(ctx context.Context, invoke *handlerv1.Invoke, port port) (outcome session.Outcome) {
	defer func() {
		if value := recover(); value != nil {
			outcome = session.Outcome{Failure: failureOfPanic(value).wire()}
		}
	}()
	input, config := orNull(invoke.GetInputJson(), "null"), orNull(invoke.GetConfigJson(), "{}")
	fail := func(failure *Failure) session.Outcome { return session.Outcome{Failure: failure.wire()} }
	if err := d.input.Check(input); err != nil {
		return fail(Fail("input_invalid", "the input does not fit: "+err.Error()).Permanent())
	}
	if err := d.config.Check(config); err != nil {
		return fail(Fail("config_invalid", "the config does not fit: "+err.Error()).Permanent())
	}
	task := taskOf(invoke, port)
	out, err := d.call(context.WithValue(ctx, taskKey{}, task), input, config)
	if err != nil {
		return fail(failureOf(err, d.where))
	}
	text, err := encode(out)
	if err != nil {
		return fail(Fail("output_invalid", fmt.Sprintf("the output is not JSON: %v", err)).Permanent())
	}
	if err := d.output.Check(text); err != nil {
		return fail(Fail("contract_violated", "the output does not fit its schema: "+err.Error()))
	}
	actions, fault := task.acts.end()
	if fault != nil {
		return fail(fault)
	}
	task.result.OutputJson, task.result.Actions = string(text), actions
	return session.Outcome{Result: &task.result}
}

func orNull(text, absent string) []byte {
	if text == "" {
		return []byte(absent)
	}
	return []byte(text)
}
