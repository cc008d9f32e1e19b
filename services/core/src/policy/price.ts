// Prices of models. The operator writes dollars for a million tokens, which are micro-dollars for one token.

/** Dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/** The price of a model by its name. Undefined if it is not known. */
export type PriceOf = (model: string) => Price | undefined;

export const NO_PRICES: PriceOf = () => undefined;

/** The prices of a table by the names of the models. */
export function priceTable(prices: Readonly<Record<string, Price>>): PriceOf {
  const known = new Map(Object.entries(prices));
  return (model) => known.get(model);
}

/** The cost in whole micro-dollars, rounded up, so sums are exact. */
export function costOf({ input, output }: Price, tokens: Tokens): number {
  const millionths =
    BigInt(tokens.input) * millionthsOf(input) + BigInt(tokens.output) * millionthsOf(output);
  return Number((millionths + 999_999n) / 1_000_000n);
}

interface Tokens {
  readonly input: number;
  readonly output: number;
}

const millionthsOf = (price: number): bigint => BigInt(Math.round(price * 1e6));
