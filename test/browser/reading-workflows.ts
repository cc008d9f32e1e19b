// The workflows that reading.test.ts runs and reads.

const chain = (...ids: readonly string[]): object[] =>
  ids.slice(1).map((target, index) => ({ source: ids[index], target }));

const LONG = `the server answered with an HTML page instead of JSON. `.repeat(40);
/** It fails in the middle, with a very long message. */
export const BROKEN = {
  id: "broken-import-of-all-customers",
  title: "Import the customers of a very long and winding road, one by one, for ever and ever",
  nodes: [
    { id: "start", type: "start" },
    { id: "fetch", type: "javascript", label: "Fetch", config: { code: "return 1" } },
    {
      id: "parse",
      type: "javascript",
      label: "Parse",
      config: { code: `throw new Error(${JSON.stringify(LONG)})` },
    },
    { id: "after", type: "noop", label: "Afterwards" },
    { id: "end", type: "end" },
  ],
  edges: chain("start", "fetch", "parse", "after", "end"),
};

/** Its failure is left by the handle error. */
export const HANDLED = {
  id: "handled",
  nodes: [
    { id: "start", type: "start" },
    {
      id: "call",
      type: "javascript",
      error_handling: "continue",
      config: { code: "throw new Error('no answer')" },
    },
    { id: "desk", type: "noop" },
    { id: "end", type: "end" },
  ],
  edges: [
    { source: "start", target: "call" },
    { source: "call", source_handle: "error", target: "desk" },
    { source: "desk", target: "end" },
  ],
};

const SHOPS = Array.from({ length: 200 }, (_, index) => `shop-${index + 1}`);
/** Two hundred siblings, one of which fails. */
export const FAN = {
  id: "wide-fan",
  title: "Two hundred tills",
  nodes: [
    { id: "start", type: "start" },
    ...SHOPS.map((id) => ({
      id,
      type: "javascript",
      config: { code: id === "shop-147" ? "throw new Error('stuck')" : "return 1" },
    })),
    { id: "sum", type: "noop" },
    { id: "end", type: "end" },
  ],
  edges: [
    ...SHOPS.flatMap((id) => [...chain("start", id), ...chain(id, "sum")]),
    ...chain("sum", "end"),
  ],
};

/** It rests for an hour. */
export const DELAYED = {
  id: "delayed",
  nodes: [
    { id: "start", type: "start" },
    { id: "rest", type: "delay", label: "Let it rest", config: { delay_ms: 3_600_000 } },
    { id: "end", type: "end" },
  ],
  edges: chain("start", "rest", "end"),
};
