// Definitions that break one rule each, with the place and the name of the rule (rows D and T of the catalogue of bad inputs).
import { LIMITS } from "@pawl/core/data/limits";

/** A definition and what is wrong with it. */
export type BadDefinition = {
  readonly row: string;
  readonly what: string;
  readonly text: string;
  /** Where: a path inside of the definition. */
  readonly path: string;
  readonly rule: string;
  /** What the call as a whole is refused with. */
  readonly reason?: "CYCLE_DETECTED" | "LIMIT_EXCEEDED";
};

const START = { id: "start", type: "start" };
type Part = Readonly<Record<string, unknown>>;

const text = (nodes: readonly Part[], edges: readonly Part[] = []): string =>
  JSON.stringify({ nodes: [START, ...nodes], edges });
const edge = (source: string, target: string, more: Part = {}): Part => ({
  source,
  target,
  ...more,
});
const noop = (id: string, more: Part = {}): Part => ({ id, type: "noop", ...more });

/** A graph whose second node, behind the start, is `node`. */
const with1 = (node: Part): string => text([{ id: "a", ...node }], [edge("start", "a")]);
const withConfig = (type: string, config: Part): string => with1({ type, config });

const many = (count: number): readonly undefined[] => Array.from({ length: count });
const LONG = "x".repeat(5_000);

const GRAPHS: readonly BadDefinition[] = [
  {
    row: "D1",
    what: "a cycle",
    text: text([noop("a"), noop("b")], [edge("start", "a"), edge("a", "b"), edge("b", "a")]),
    path: "edges",
    rule: "CYCLE",
    reason: "CYCLE_DETECTED",
  },
  {
    row: "D1",
    what: "a cycle of names too long to repeat",
    text: text([noop(LONG), noop("b")], [edge(LONG, "b"), edge("b", LONG)]),
    path: "edges",
    rule: "CYCLE",
  },
  {
    row: "D2",
    what: "an edge from a node to itself",
    text: text([noop("a")], [edge("start", "a"), edge("a", "a")]),
    path: "edges",
    rule: "CYCLE",
    reason: "CYCLE_DETECTED",
  },
  {
    row: "D4",
    what: "an edge to a node that is not there",
    text: text([], [edge("start", LONG)]),
    path: "edges[0].target",
    rule: "DANGLING_EDGE",
  },
  {
    row: "D4",
    what: "an edge from a node that is not there",
    text: text([], [edge("nobody", "start")]),
    path: "edges[0].source",
    rule: "DANGLING_EDGE",
  },
  {
    row: "D5",
    what: "no start",
    text: '{"nodes":[{"id":"a","type":"noop"}]}',
    path: "nodes",
    rule: "NO_START",
  },
  {
    row: "D5",
    what: "two starts",
    text: with1({ type: "start" }),
    path: "nodes[1].type",
    rule: "MANY_STARTS",
  },
  { row: "D7", what: "no nodes", text: '{"nodes":[]}', path: "nodes", rule: "EMPTY" },
  {
    row: "D8",
    what: "one node too many",
    text: text(many(LIMITS.definitionNodes).map((_, index) => noop(`n${index}`))),
    path: "nodes",
    rule: "TOO_MANY_NODES",
    reason: "LIMIT_EXCEEDED",
  },
  {
    row: "D8",
    what: "one edge too many",
    text: text(
      [noop("a")],
      many(LIMITS.definitionEdges + 1).map(() => edge("start", "a")),
    ),
    path: "edges",
    rule: "TOO_MANY_EDGES",
    reason: "LIMIT_EXCEEDED",
  },
  ...[0, 2, -1, 1.5, "1"].map((n) => ({
    row: "D10",
    what: `a join of ${n} of 1`,
    text: with1({ type: "noop", join: { n_of_m: n } }),
    path: "nodes[1].join",
    rule: "BAD_JOIN",
  })),
  {
    row: "D11",
    what: "an edge from a branch that is not declared",
    text: text(
      [
        { id: "c", type: "condition", config: { branches: [{ id: "yes", when: "true" }] } },
        noop("a"),
      ],
      [edge("start", "c"), edge("c", "a", { source_handle: "no" })],
    ),
    path: "edges[1].source_handle",
    rule: "UNDECLARED_HANDLE",
  },
  ...[0, -1, 1e9].map((attempts) => ({
    row: "D13",
    what: `${attempts} attempts`,
    text: with1({ type: "noop", retry: { attempts } }),
    path: "nodes[1].retry.attempts",
    rule: "OUT_OF_RANGE",
  })),
  ...[0, -5, 1e12].map((timeout_ms) => ({
    row: "D14",
    what: `a timeout of ${timeout_ms} ms`,
    text: with1({ type: "noop", timeout_ms }),
    path: "nodes[1].timeout_ms",
    rule: "OUT_OF_RANGE",
  })),
  {
    row: "D17",
    what: "a delay of 400 days",
    text: withConfig("delay", { delay_ms: 400 * 86_400_000 }),
    path: "nodes[1].config.delay_ms",
    rule: "OUT_OF_RANGE",
  },
  {
    row: "D18",
    what: "a delay without its time",
    text: withConfig("delay", {}),
    path: "nodes[1].config.delay_ms",
    rule: "REQUIRED",
  },
  {
    row: "D18",
    what: "a request without its address",
    text: withConfig("http", {}),
    path: "nodes[1].config.url",
    rule: "REQUIRED",
  },
  {
    row: "D18",
    what: "a node without a type",
    text: with1({}),
    path: "nodes[1].type",
    rule: "REQUIRED",
  },
  {
    row: "D18",
    what: "a key nobody knows",
    text: with1({ type: "noop", [LONG.slice(0, 200)]: 1 }),
    path: `nodes[1].${LONG.slice(0, 61)}…`,
    rule: "UNKNOWN_KEY",
  },
  {
    row: "D23",
    what: "two outputs of one name",
    text: text([noop("a", { output_variable: "x" }), noop("b", { output_variable: "x" })]),
    path: "nodes[2].output_variable",
    rule: "DUPLICATE_VARIABLE",
  },
  {
    row: "D24",
    what: "two nodes of one id",
    text: text([noop("start")]),
    path: "nodes[1].id",
    rule: "DUPLICATE_ID",
  },
];

const WHOLE = (row: string, what: string, source: string, rule: string): BadDefinition => ({
  row,
  what,
  text: source,
  path: "",
  rule,
});

const TEXTS: readonly BadDefinition[] = [
  WHOLE("D19", "text that is neither JSON nor YAML", `nodes: [${LONG}`, "YAML_SYNTAX"),
  WHOLE("D19", "half an object", '{"nodes":', "JSON_SYNTAX"),
  WHOLE("J2", "ten thousand levels of JSON", `{"nodes":${"[".repeat(10_000)}`, "JSON_TOO_DEEP"),
  WHOLE("J2", "ten thousand levels of YAML", `nodes: ${"[".repeat(10_000)}`, "JSON_TOO_DEEP"),
  WHOLE("J4", "the key __proto__", '{"nodes":[],"__proto__":{}}', "RESERVED_KEY"),
  WHOLE("J5", "a key twice", '{"nodes":[],"nodes":[]}', "JSON_DUPLICATE_KEY"),
  WHOLE("J5", "a key twice in YAML", "nodes: []\nnodes: []\n", "JSON_DUPLICATE_KEY"),
  WHOLE("J8", "an integer that would be rounded", '{"nodes":9007199254740993}', "NUMBER_PRECISION"),
  WHOLE(
    "J8",
    "an integer that would be rounded in YAML",
    "nodes: 9007199254740993",
    "NUMBER_PRECISION",
  ),
  WHOLE("J13", "half a surrogate pair", '{"title":"\\ud800"}', "BAD_UNICODE"),
  WHOLE("J14", "a NUL character", '{"title":"\\u0000"}', "NUL_CHARACTER"),
  WHOLE("J14", "a NUL character in YAML", 'title: "\\0"', "NUL_CHARACTER"),
  WHOLE("J19", "two thousand keys inside one another in YAML", "? ".repeat(2_000), "JSON_TOO_DEEP"),
  WHOLE(
    "J19",
    "two thousand lists inside one another in YAML",
    "- ".repeat(2_000),
    "JSON_TOO_DEEP",
  ),
  {
    ...WHOLE(
      "J19",
      "YAML of one byte too many",
      " ".repeat(LIMITS.definitionYamlBytes + 1),
      "TOO_LARGE",
    ),
    reason: "LIMIT_EXCEEDED",
  },
  WHOLE("J19", "an alias in YAML", "a: &a [1]\nnodes: [*a, *a]\n", "YAML_ALIAS"),
];

const body = (template: string): string =>
  withConfig("http", { url: "https://example.com", method: "POST", body: template });
const when = (condition: string): string =>
  withConfig("condition", { branches: [{ id: "yes", when: condition }] });
const inBody = (row: string, what: string, template: string, rule: string) => ({
  row,
  what,
  text: body(template),
  path: "nodes[1].config.body",
  rule,
});
const inWhen = (row: string, what: string, condition: string, rule: string) => ({
  row,
  what,
  text: when(condition),
  path: "nodes[1].config.branches[0].when",
  rule,
});

const EXPRESSIONS: readonly BadDefinition[] = [
  inBody("T1", "a template that names a prototype", "{{ ctx.__proto__.x }}", "RESERVED_KEY"),
  inBody(
    "T2",
    "a template that calls",
    "{{ ctx.constructor.constructor('return process')() }}",
    "TEMPLATE_SYNTAX",
  ),
  inBody("T3", "a template that is not closed", `{{ ctx.${LONG}`, "TEMPLATE_SYNTAX"),
  inBody("T3", "a template of another root", "{{ process.env }}", "TEMPLATE_SYNTAX"),
  {
    ...inBody("T4", "ten thousand holes", "{{ctx}}".repeat(9_000), "TEMPLATE_TOO_LARGE"),
    reason: "LIMIT_EXCEEDED",
  },
  inWhen(
    "T8",
    "a condition with a regular expression",
    "'a'.matches('^(a+)+$')",
    "EXPRESSION_SYNTAX",
  ),
  inWhen(
    "T11",
    "a thousand brackets",
    `${"(".repeat(1_000)}true${")".repeat(1_000)}`,
    "EXPR_TOO_DEEP",
  ),
  inWhen("T12", "a condition of 5 KB", `"${LONG}" == "x"`, "EXPRESSION_TOO_LARGE"),
  inWhen("T13", "a condition that is a number", "1 + 1", "CONDITION_TYPE"),
  inWhen("T13", "a condition of wrong types", '1 + "a" == 2', "EXPRESSION_SYNTAX"),
  {
    row: "T14",
    what: "two lines in a header",
    text: withConfig("http", { url: "https://example.com", headers: { a: "b\r\nc: d" } }),
    path: "nodes[1].config.headers.a",
    rule: "HEADER_INJECTION",
  },
  {
    row: "S16",
    what: "a script of 64 KiB and one byte",
    text: withConfig("javascript", { code: " ".repeat(LIMITS.javascriptBytes + 1) }),
    path: "nodes[1].config.code",
    rule: "JS_TOO_LARGE",
  },
  {
    row: "S17",
    what: "a script that does not parse",
    text: withConfig("javascript", { code: "return {" }),
    path: "nodes[1].config.code",
    rule: "JS_SYNTAX",
  },
  {
    row: "U8",
    what: "an address of a file",
    text: withConfig("http", { url: "file:///etc/passwd" }),
    path: "nodes[1].config.url",
    rule: "URL_BLOCKED",
  },
];

/** All of them. */
export const BAD_DEFINITIONS: readonly BadDefinition[] = [...GRAPHS, ...TEXTS, ...EXPRESSIONS];
