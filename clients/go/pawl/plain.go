package pawl

// Messages as plain values that encode to JSON, for people and scripts. User data is decoded, statuses have their short names, and ids are
// numbers.

import (
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// PlainEvent is one event in the envelope of the log: eventId, type, runId, timestamp, …, payload. Encode it with encoding/json.
func PlainEvent(event *Event) map[string]any {
	plain := Plain(event)
	for _, name := range []string{"type", "runId"} {
		if _, isThere := plain[name]; !isThere {
			plain[name] = ""
		}
	}
	plain["eventId"] = event.GetEventId()
	if at, isThere := plain["time"]; isThere {
		delete(plain, "time")
		plain["timestamp"] = at
	}
	plain["payload"] = map[string]any{}
	message := event.ProtoReflect()
	if fact := message.WhichOneof(message.Descriptor().Oneofs().ByName("fact")); fact != nil {
		plain["payload"] = plain[fact.JSONName()]
		delete(plain, fact.JSONName())
	}
	return plain
}

// Plain is a message of a server by the names of its fields in JSON: a RunState, a Schedule, an Approval, a DeadLetter and so on. A field such
// as outputJson becomes output, with the JSON of the user.
func Plain(message proto.Message) map[string]any {
	fields := map[string]any{}
	message.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		name, isJSON := strings.CutSuffix(field.JSONName(), "Json")
		if isJSON && field.Kind() == protoreflect.BytesKind && !field.IsList() {
			fields[name] = jsonOrText(value.Bytes())
		} else {
			fields[field.JSONName()] = plainField(field, value)
		}
		return true
	})
	return fields
}

func plainField(field protoreflect.FieldDescriptor, value protoreflect.Value) any {
	switch {
	case field.IsMap():
		fields := map[string]any{}
		value.Map().Range(func(key protoreflect.MapKey, each protoreflect.Value) bool {
			fields[key.String()] = plainValue(field.MapValue(), each)
			return true
		})
		return fields
	case field.IsList():
		items := make([]any, value.List().Len())
		for n := range items {
			items[n] = plainValue(field, value.List().Get(n))
		}
		return items
	}
	return plainValue(field, value)
}

func plainValue(field protoreflect.FieldDescriptor, value protoreflect.Value) any {
	switch field.Kind() {
	case protoreflect.EnumKind:
		return shortName(field.Enum(), value.Enum())
	case protoreflect.MessageKind, protoreflect.GroupKind:
		message := value.Message().Interface()
		if field.Message().ParentFile().Package() != "google.protobuf" {
			return Plain(message)
		}
		// Times, durations and values have their own JSON form.
		text, err := protojson.Marshal(message)
		if err != nil {
			return nil
		}
		return json.RawMessage(text)
	}
	return value.Interface()
}

// shortName is completed for RUN_STATUS_COMPLETED. A number that this package does not know stays a number. The value 0 of every enum is
// …_UNSPECIFIED.
func shortName(enum protoreflect.EnumDescriptor, number protoreflect.EnumNumber) any {
	value := enum.Values().ByNumber(number)
	if value == nil {
		return int32(number)
	}
	prefix := strings.TrimSuffix(string(enum.Values().ByNumber(0).Name()), "UNSPECIFIED")
	return strings.ToLower(strings.TrimPrefix(string(value.Name()), prefix))
}

func jsonOrText(text []byte) any {
	if json.Valid(text) {
		return json.RawMessage(text)
	}
	return string(text)
}
