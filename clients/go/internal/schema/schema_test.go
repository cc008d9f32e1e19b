package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

type charge struct {
	Customer string          `json:"customer" pawl:"min=1,desc=Who pays"`
	Cents    int             `json:"cents" pawl:"min=1,max=1000"`
	Currency string          `json:"currency,omitempty" pawl:"enum=EUR|USD"`
	Lines    []line          `json:"lines"`
	Note     *string         `json:"note,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
}

type line struct {
	Name string `json:"name" pawl:"pattern=^[a-z]+$"`
}

func chargeSchema(t *testing.T) Schema {
	t.Helper()
	made, err := For(reflect.TypeFor[charge]())
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestSchemaOfAType(t *testing.T) {
	var got map[string]any
	if err := json.Unmarshal([]byte(chargeSchema(t).Text), &got); err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	text := `{"type":"object","required":["customer","cents","lines"],"properties":{
		"customer":{"type":"string","minLength":1,"description":"Who pays"},
		"cents":{"type":"integer","minimum":1,"maximum":1000},
		"currency":{"type":"string","enum":["EUR","USD"]},
		"lines":{"type":"array","items":{"type":"object","required":["name"],"properties":{"name":{"type":"string","pattern":"^[a-z]+$"}}}},
		"note":{"type":["null","string"]},"data":true}}`
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestCheckNamesThePathOfTheFault(t *testing.T) {
	made := chargeSchema(t)
	cases := map[string]string{
		`{"customer":"c","cents":5,"lines":[]}`:                         "",
		`{"customer":"c","cents":5,"lines":[{"name":"a"}],"more":true}`: "",
		`{"customer":"c","cents":0,"lines":[]}`:                         "/cents: minimum",
		`{"customer":"c","cents":5.5,"lines":[]}`:                       "/cents: type",
		`{"customer":"","cents":5,"lines":[]}`:                          "/customer: minLength",
		`{"customer":"c","cents":5,"lines":[],"currency":"GBP"}`:        "/currency: enum",
		`{"customer":"c","cents":5,"lines":[{"name":"A1"}]}`:            "/lines/*/name: pattern",
		`{"customer":"c","cents":5}`:                                    "required",
		`null`:                                                          "type",
		`{`:                                                             "not JSON",
	}
	for text, want := range cases {
		err := made.Check([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestASchemaThatCannotBeMadeIsAnError(t *testing.T) {
	type bad struct {
		N int `json:"n" pawl:"least=1"`
	}
	for _, kind := range []reflect.Type{reflect.TypeFor[bad](), reflect.TypeFor[chan int]()} {
		if _, err := For(kind); err == nil {
			t.Errorf("%v: no error", kind)
		}
	}
	if _, err := Parse(`{"type":`); err == nil {
		t.Error("a broken schema is parsed")
	}
}

func TestEncodeWritesAnEmptyListForNil(t *testing.T) {
	value := struct {
		List []string   `json:"list"`
		Deep [1][]int   `json:"deep"`
		Text string     `json:"text"`
		Keep []struct{} `json:"keep,omitempty"`
	}{Text: "<b>"}
	text, err := Encode(value)
	if want := `{"list":[],"deep":[[]],"text":"<b>"}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
	if value.List != nil || value.Deep[0] != nil {
		t.Error("the caller's value is changed")
	}
}
