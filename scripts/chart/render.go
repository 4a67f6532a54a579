// Renders a chart as Helm does, where Helm itself is not installed: Go's text/template with sprig and Helm's own functions
// (pkg/engine of helm/helm). It needs Go and three of Debian's packages; scripts/chart/render.ts names them.
//
//	render <chart> <release> <namespace> <values.json   prints { "<template>": "<text>" } as JSON
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type object = map[string]interface{}

func main() {
	chart, release, namespace := os.Args[1], os.Args[2], os.Args[3]
	values := object{}
	check(json.NewDecoder(os.Stdin).Decode(&values))
	about := object{} // templates know the fields of Chart.yaml by their names in Go
	for key, value := range read(filepath.Join(chart, "Chart.yaml")) {
		about[strings.ToUpper(key[:1])+key[1:]] = value
	}
	all := template.New("gotpl").Option("missingkey=zero")
	all.Funcs(functions(all))
	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		check(err)
		template.Must(all.New(filepath.Base(path)).Parse(string(text)))
	}
	rendered := map[string]string{}
	for _, path := range paths {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "_") {
			continue
		}
		var text strings.Builder
		check(all.ExecuteTemplate(&text, name, object{
			"Values":   values,
			"Chart":    about,
			"Release":  object{"Name": release, "Namespace": namespace, "Revision": 1, "IsInstall": true, "IsUpgrade": false, "Service": "Helm"},
			"Template": object{"Name": about["Name"].(string) + "/templates/" + name, "BasePath": about["Name"].(string) + "/templates"},
		}))
		rendered[name] = strings.ReplaceAll(text.String(), "<no value>", "")
	}
	check(json.NewEncoder(os.Stdout).Encode(rendered))
}

func functions(all *template.Template) template.FuncMap {
	known := sprig.TxtFuncMap()
	delete(known, "env")
	delete(known, "expandenv")
	known["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	known["required"] = func(sentence string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(sentence)
		}
		return value, nil
	}
	known["toYaml"] = func(value interface{}) string {
		text, _ := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n")
	}
	known["fromYaml"] = func(text string) object {
		value := object{}
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			value["Error"] = err.Error()
		}
		return value
	}
	return known
}

func read(path string) object {
	text, err := os.ReadFile(path)
	check(err)
	value := object{}
	check(yaml.UnmarshalStrict(text, &value))
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
