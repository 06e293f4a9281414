package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// pack writes a file, compressed. One that is there stays as it is: what it holds was written when its form was new.
func pack(name string, data []byte) error {
	switch was, err := unpack(name); {
	case err == nil && bytes.Equal(was, data):
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return errors.Join(fmt.Errorf("%s is there already and holds something else", name), err)
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	fmt.Println(name, b.Len(), "bytes")
	return os.WriteFile(name, b.Bytes(), 0o644)
}

func unpack(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
