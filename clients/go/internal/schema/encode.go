package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Encode writes a value as JSON, without escapes for HTML. A nil list becomes an empty one, as its schema promises.
func Encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(filled(value)); err != nil {
		return nil, err
	}
	return bytes.TrimRight(text.Bytes(), "\n"), nil
}

// filled copies a value if it has nil lists. The caller's value does not change.
func filled(value any) any {
	v := reflect.ValueOf(value)
	if !v.IsValid() || !hasNilList(v, 0) {
		return value
	}
	copied := reflect.New(v.Type()).Elem()
	copied.Set(v)
	fill(copied, 0)
	return copied.Interface()
}

// Deeper lists of a recursive value are left alone.
const depthMax = 16

func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8
}

func hasNilList(v reflect.Value, depth int) bool {
	if depth > depthMax {
		return false
	}
	switch v.Kind() {
	case reflect.Slice:
		if isList(v.Type()) && v.IsNil() {
			return true
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			if isDeep(v.Type().Elem()) && hasNilList(v.Index(i), depth+1) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && hasNilList(v.Field(i), depth+1) {
				return true
			}
		}
	}
	return false
}

func isDeep(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Slice || t.Kind() == reflect.Array
}

func fill(v reflect.Value, depth int) {
	if depth > depthMax {
		return
	}
	switch v.Kind() {
	case reflect.Slice:
		if !isList(v.Type()) {
			return
		}
		// A new array: the old one belongs to the caller.
		copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(copied, v)
		v.Set(copied)
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			if isDeep(v.Type().Elem()) {
				fill(v.Index(i), depth+1)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), depth+1)
			}
		}
	}
}
