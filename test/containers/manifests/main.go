// Reads manifests of Kubernetes with its own types, strictly, and prints them as a JSON array.
//
// Run: go run . FILE...
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

func main() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{core.AddToScheme, apps.AddToScheme} {
		if err := add(scheme); err != nil {
			fail("the types", err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	objects := []runtime.Object{}
	for _, path := range os.Args[1:] {
		text, err := os.ReadFile(path)
		if err != nil {
			fail(path, err)
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			object, _, err := decoder.Decode(document, nil, nil)
			if err != nil {
				fail(path, err)
			}
			objects = append(objects, object)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(objects); err != nil {
		fail("the output", err)
	}
}

func fail(what string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
	os.Exit(1)
}
