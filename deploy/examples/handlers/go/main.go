// The Go part of polyglot-order: it computes the price of an order.
package main

import (
	"context"

	"pawl.dev/sdk/go/pawl"
)

// Line is one line of an order.
type Line struct {
	SKU       string `json:"sku"`
	Quantity  int    `json:"quantity" pawl:"min=1"`
	UnitCents int    `json:"unit_cents" pawl:"min=0"`
}

// Order has the lines to price.
type Order struct {
	Lines []Line `json:"lines"`
}

// Price is the total of an order.
type Price struct {
	Pieces int `json:"pieces" pawl:"min=1"`
	Cents  int `json:"cents" pawl:"min=0"`
}

// maxCents is the largest order that the shop accepts.
const maxCents = 100_000_000

func price(_ context.Context, order Order) (Price, error) {
	var total Price
	for _, line := range order.Lines {
		total.Pieces += line.Quantity
		total.Cents += line.Quantity * line.UnitCents
		if line.Quantity > maxCents || line.UnitCents > maxCents || total.Cents > maxCents {
			return Price{}, pawl.Fail("shop.too_large", "an order may cost 1 000 000 EUR at most").Permanent()
		}
	}
	return total, nil
}

func main() {
	pawl.Main(pawl.Handle("shop.price@1", price, pawl.Describe("Computes the price of an order.")))
}
