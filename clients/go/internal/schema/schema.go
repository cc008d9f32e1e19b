// Package schema writes the JSON Schema (2020-12) of a Go type and checks JSON against it.
//
// Field names and omitted fields follow encoding/json. The tag pawl adds rules: `pawl:"min=1,max=9,enum=a|b,pattern=^x,desc=for people"`.
// For a string and a list, min and max bound the length.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is a checked schema. The zero value accepts every JSON value.
type Schema struct {
	// Text is the schema as JSON. Empty means any value.
	Text     string
	resolved *jsonschema.Resolved
}

func known() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
	}
}

// For writes the schema of a type.
func For(t reflect.Type) (Schema, error) {
	if t.Kind() == reflect.Interface || t == reflect.TypeFor[json.RawMessage]() {
		return Schema{}, nil
	}
	made, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known()})
	if err != nil {
		return Schema{}, fmt.Errorf("no schema for %v: %w; give the schema yourself", t, err)
	}
	if err := refine(t, made); err != nil {
		return Schema{}, err
	}
	return resolve(made)
}

// Parse reads a schema that the user gives as JSON text.
func Parse(text string) (Schema, error) {
	var given jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return Schema{}, fmt.Errorf("the schema is not valid: %w", err)
	}
	made, err := resolve(&given)
	made.Text = text
	return made, err
}

func resolve(made *jsonschema.Schema) (Schema, error) {
	resolved, err := made.Resolve(nil)
	if err != nil {
		return Schema{}, fmt.Errorf("the schema is not valid: %w", err)
	}
	text, err := json.Marshal(made)
	if err != nil {
		return Schema{}, fmt.Errorf("the schema is not valid: %w", err)
	}
	return Schema{string(text), resolved}, nil
}

// Check reports the first place where JSON text does not fit, with its path.
func (s Schema) Check(text []byte) error {
	if s.resolved == nil {
		return nil
	}
	var value any
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&value); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if err := s.resolved.Validate(value); err != nil {
		return fmt.Errorf("%s", readable(err.Error()))
	}
	return nil
}

// readable turns "validating root: validating /properties/count: minimum: …" into "/count: minimum: …".
func readable(message string) string {
	message = strings.TrimPrefix(message, "validating root: ")
	path := ""
	for {
		rest, isDeeper := strings.CutPrefix(message, "validating ")
		place, after, hasPlace := strings.Cut(rest, ": ")
		if !isDeeper || !hasPlace {
			break
		}
		path, message = place, after
	}
	path = strings.ReplaceAll(strings.ReplaceAll(path, "/properties/", "/"), "/items", "/*")
	if path == "" {
		return message
	}
	return path + ": " + message
}

// refine makes a schema of the library agree with encoding/json. Structs accept further keys, as json.Unmarshal does. Lists are never null:
// the encoder of this SDK writes an empty list for nil. Then it adds the rules of the tags.
func refine(t reflect.Type, s *jsonschema.Schema) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if _, isKnown := known()[t]; isKnown || s == nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if len(s.Types) == 2 {
			s.Type, s.Types = "array", nil
		}
		return refine(t.Elem(), s.Items)
	case reflect.Map:
		return refine(t.Elem(), s.AdditionalProperties)
	case reflect.Struct:
		s.AdditionalProperties = nil
		return refineFields(t, s)
	}
	return nil
}

func refineFields(t reflect.Type, s *jsonschema.Schema) error {
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			name = field.Name
		}
		property := s.Properties[name]
		if property == nil || field.Anonymous {
			continue
		}
		if err := refine(field.Type, property); err != nil {
			return err
		}
		if rules := field.Tag.Get("pawl"); rules != "" {
			if err := addRules(property, rules); err != nil {
				return fmt.Errorf("field %v.%s: %w", t, field.Name, err)
			}
		}
	}
	return nil
}

func addRules(s *jsonschema.Schema, rules string) error {
	for rule := range strings.SplitSeq(rules, ",") {
		name, value, _ := strings.Cut(rule, "=")
		switch name {
		case "min", "max":
			if err := addBound(s, name == "min", value); err != nil {
				return err
			}
		case "enum":
			for one := range strings.SplitSeq(value, "|") {
				s.Enum = append(s.Enum, one)
			}
		case "pattern":
			s.Pattern = value
		case "desc":
			s.Description = value
		default:
			return fmt.Errorf("the rule %q of the tag pawl is unknown; use min, max, enum, pattern or desc", name)
		}
	}
	return nil
}

func addBound(s *jsonschema.Schema, isMin bool, value string) error {
	bound, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("the bound %q of the tag pawl is not a number", value)
	}
	kind := s.Type
	for _, one := range s.Types {
		if one != "null" {
			kind = one
		}
	}
	length := int(bound)
	number, text, list := &s.Maximum, &s.MaxLength, &s.MaxItems
	if isMin {
		number, text, list = &s.Minimum, &s.MinLength, &s.MinItems
	}
	switch kind {
	case "string":
		*text = &length
	case "array":
		*list = &length
	default:
		*number = &bound
	}
	return nil
}
