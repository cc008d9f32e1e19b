// Package pawl calls Pawl workflows and serves handlers for your own node types.
//
// Callers use Connect and Run. Handler processes use Handle and Serve. Tests use RunHandler.
package pawl

import "pawl.dev/sdk/go/internal/schema"

// encode writes a value as JSON.
func encode(value any) ([]byte, error) { return schema.Encode(value) }
