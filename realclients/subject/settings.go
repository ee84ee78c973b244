package subject

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"
)

// SettingError is a setting that the library does not have, or a value that it cannot hold.
type SettingError struct{ Text string }

func (wrong SettingError) Error() string { return wrong.Text }

// Spelled turns a setting's text into the library's own value, for types that have words of their own: nil stands for the
// type's zero. Structs get numbers as texts, too.
type Spelled func(text string) (any, error)

var duration = reflect.TypeOf(time.Duration(0))

// Set puts settings into a configuration struct by their dotted names (`Net.DialTimeout`). Durations are numbers of
// seconds; `spelled` knows the words of the library's own types. Returns a SettingError that names every wrong setting.
func Set(configuration any, settings map[string]any, spelled map[reflect.Type]Spelled) error {
	fields := map[string]reflect.Value{}
	collect("", reflect.ValueOf(configuration).Elem(), spelled, fields)
	names := make([]string, 0, len(settings))
	for name := range settings {
		names = append(names, name)
	}
	sort.Strings(names)
	var wrong []string
	for _, name := range names {
		field, found := fields[name]
		if !found {
			wrong = append(wrong, fmt.Sprintf("there is no setting %s%s", name, nearest(name, fields)))
		} else if err := put(field, settings[name], spelled); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s %s", name, err))
		}
	}
	if wrong != nil {
		return SettingError{strings.Join(wrong, "; ")}
	}
	return nil
}

// collect finds every field that a scenario can set.
func collect(prefix string, group reflect.Value, spelled map[reflect.Type]Spelled, found map[string]reflect.Value) {
	for place := range group.NumField() {
		field, about := group.Field(place), group.Type().Field(place)
		if !about.IsExported() {
			continue
		}
		_, ownWords := spelled[field.Type()]
		switch {
		case field.Kind() == reflect.Struct && !ownWords:
			collect(prefix+about.Name+".", field, spelled, found)
		default:
			found[prefix+about.Name] = field
		}
	}
}

func put(field reflect.Value, value any, spelled map[reflect.Type]Spelled) error {
	number, isNumber := value.(json.Number)
	_, isText := value.(string)
	if words, found := spelled[field.Type()]; found && (isText || isNumber && field.Kind() == reflect.Struct) {
		made, err := words(fmt.Sprint(value))
		if err != nil {
			return err
		}
		if made == nil {
			field.SetZero()
			return nil
		}
		field.Set(reflect.ValueOf(made).Convert(field.Type()))
		return nil
	}
	switch kind := field.Kind(); {
	case field.Type() == duration && isNumber:
		seconds, err := number.Float64()
		if err != nil || math.Abs(seconds) > math.MaxInt64/1e9 {
			return fmt.Errorf("is a duration in seconds, not %s", number)
		}
		field.SetInt(int64(math.Round(seconds * 1e9)))
		return nil
	case field.Type() == duration:
		return fmt.Errorf("is a duration in seconds, not %s", shown(value))
	case kind >= reflect.Int && kind <= reflect.Int64:
		whole, err := strconv.ParseInt(number.String(), 10, 64)
		if !isNumber || err != nil || field.OverflowInt(whole) {
			return fmt.Errorf("is a whole number, not %s", shown(value))
		}
		field.SetInt(whole)
		return nil
	case kind == reflect.Bool:
		flag, isFlag := value.(bool)
		if !isFlag {
			return fmt.Errorf("is true or false, not %s", shown(value))
		}
		field.SetBool(flag)
		return nil
	case kind == reflect.String && (isText || isNumber):
		field.SetString(fmt.Sprint(value))
		return nil
	}
	return fmt.Errorf("is a %s in the library: it cannot be set from outside to %s", field.Type(), shown(value))
}

func shown(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// nearest suggests the setting that is fewest letters away, if it is near at all.
func nearest(name string, fields map[string]reflect.Value) string {
	best, least := "", 4
	for known := range fields {
		if away := distance(name, known); away < least || away == least && known < best {
			best, least = known, away
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// distance counts the letters to change, add or leave out (Levenshtein).
func distance(one, other string) int {
	row := make([]int, len(other)+1)
	for place := range row {
		row[place] = place
	}
	for i := range len(one) {
		before := row[0]
		row[0] = i + 1
		for j := range len(other) {
			change := before
			if one[i] != other[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(other)]
}
