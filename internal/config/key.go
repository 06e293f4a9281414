package config

import (
	"crypto/sha256"
	"fmt"
)

// checkKeys finds keys that admit no one, and keys that could admit two tenants.
func (c *Config) checkKeys() error {
	seen := map[[sha256.Size]byte]int{}
	for i := range c.Keys {
		k := &c.Keys[i]
		if k.Tenant == "" {
			return fmt.Errorf("keys[%d]: no tenant", i)
		}
		if (k.Key == "") == (k.SHA256 == "") {
			return fmt.Errorf("keys[%d] of tenant %s: want either key or sha256", i, k.Tenant)
		}
		hash, err := k.Hash()
		if err != nil {
			return fmt.Errorf("keys[%d] of tenant %s: %w", i, k.Tenant, err)
		}
		if first, ok := seen[hash]; ok {
			return fmt.Errorf("keys[%d] of tenant %s and keys[%d] of tenant %s are the same key: each needs one of its own",
				first, c.Keys[first].Tenant, i, k.Tenant)
		}
		seen[hash] = i
	}
	return nil
}
