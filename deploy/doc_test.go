// Package deploy_test checks what is meant to be copied: the image, the service of systemd, the manifest of
// Kubernetes.
package deploy_test

import (
	"os"
	"testing"
)

// read returns a file, whose name is relative to this folder.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
