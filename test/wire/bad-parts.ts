// Parts of nodes that break one rule each, with the place and the name of the rule: bodies of maps and loops, references to
// workflows, contracts, moderation, queries and models (rows D, T, J, S and U of the catalogue of bad inputs).
import { LIMITS } from "@pawl/core/data/limits";
import { type BadDefinition, type Part, second, withConfig } from "./bad-definition.ts";

type Row = readonly [row: string, what: string, config: Part, path: string, rule: string];

const rowsOf = (type: string, rows: readonly Row[]): BadDefinition[] =>
  rows.map(([row, what, config, path, rule]) => ({
    row,
    what: `${type}: ${what}`,
    text: withConfig(type, config),
    path: `nodes[1].config${path}`,
    rule,
  }));

const body = { type: "noop" };
const PROTO = "{{ ctx.__proto__ }}";
const BRACKETS = `${"(".repeat(1_000)}true${")".repeat(1_000)}`;

const MAPS = rowsOf("map", [
  ["D16", "no items", { body }, ".items", "REQUIRED"],
  ["D16", "a number for items", { items: 3, body }, ".items", "WRONG_TYPE"],
  ["D16", "a plain text for items", { items: "x", body }, ".items", "WRONG_TYPE"],
  ["D16", "too many items", { items: Array(10_001).fill(0), body }, ".items", "WRONG_TYPE"],
  ["D16", "no room at all", { items: [], body, parallelism: 0 }, ".parallelism", "OUT_OF_RANGE"],
  ["D16", "endless room", { items: [], body, parallelism: 1e9 }, ".parallelism", "OUT_OF_RANGE"],
  ["D18", "no body", { items: [] }, ".body", "REQUIRED"],
  ["D18", "a map as body", { items: [], body: { type: "map" } }, ".body.type", "BAD_BODY"],
  ["D18", "an unknown key", { items: [], body: { ...body, x: 1 } }, ".body.x", "UNKNOWN_KEY"],
  [
    "D18",
    "an unknown policy",
    { items: [], body, on_item_failure: "ignore" },
    ".on_item_failure",
    "OUT_OF_RANGE",
  ],
  [
    "S17",
    "a body that does not parse",
    { items: [], body: { type: "javascript", config: { code: "return {" } } },
    ".body.config.code",
    "JS_SYNTAX",
  ],
  [
    "T1",
    "a body whose template names a prototype",
    { items: [], body: { type: "http", config: { url: "https://a.test", body: PROTO } } },
    ".body.config.body",
    "RESERVED_KEY",
  ],
  [
    "U8",
    "a body that reads a file",
    { items: [], body: { type: "http", config: { url: "file:///etc/passwd" } } },
    ".body.config.url",
    "URL_BLOCKED",
  ],
]);

const LOOPS = rowsOf("loop", [
  ["D16", "no bound", { body }, "", "BAD_LOOP"],
  ["D16", "two bounds", { items: [], times: 2, body }, "", "BAD_LOOP"],
  [
    "D16",
    "no iterations",
    { times: 1, body, max_iterations: 0 },
    ".max_iterations",
    "OUT_OF_RANGE",
  ],
  ["D16", "less than no times", { times: -1, body }, ".times", "OUT_OF_RANGE"],
  ["T11", "an end in a thousand brackets", { until: BRACKETS, body }, ".until", "EXPR_TOO_DEEP"],
  ["T13", "an end that is a list", { until: "[1]", body }, ".until", "CONDITION_TYPE"],
]);

const CHILDREN = rowsOf("subworkflow", [
  ["D25", "no workflow", {}, ".workflow_id", "REQUIRED"],
  ["D25", "a path for a workflow", { workflow_id: "../x" }, ".workflow_id", "BAD_ID"],
  ["D25", "version 0", { workflow_id: "w", version: 0 }, ".version", "OUT_OF_RANGE"],
  ["D25", "version 2^31", { workflow_id: "w", version: 2 ** 31 }, ".version", "OUT_OF_RANGE"],
  ["T1", "an input of a prototype", { workflow_id: "w", input: PROTO }, ".input", "RESERVED_KEY"],
]);

const query = { source: "s", sql: "select $1" };
const QUERIES = rowsOf("dataQuery", [
  ["D18", "no statement", { source: "s" }, ".sql", "REQUIRED"],
  ["D18", "no source", { sql: "select 1" }, ".source", "REQUIRED"],
  ["D18", "no rows", { ...query, max_rows: 0 }, ".max_rows", "OUT_OF_RANGE"],
  [
    "D18",
    "101 values",
    { ...query, parameters: Array(101).fill(0) },
    ".parameters",
    "OUT_OF_RANGE",
  ],
  [
    "T1",
    "a value of a prototype",
    { ...query, parameters: [PROTO] },
    ".parameters[0]",
    "RESERVED_KEY",
  ],
  [
    "T3",
    "a template in SQL",
    { source: "s", sql: "select {{ ctx.x }}" },
    ".sql",
    "TEMPLATE_IN_SQL",
  ],
]);

const said = { model: "m", prompt: "x" };
const MODELS = rowsOf("llm", [
  ["D18", "no model", { prompt: "x" }, ".model", "REQUIRED"],
  ["D18", "nothing to say", { model: "m" }, "", "WRONG_TYPE"],
  [
    "D18",
    "two things to say",
    { ...said, messages: [{ role: "user", content: "x" }] },
    "",
    "WRONG_TYPE",
  ],
  ["D18", "a temperature of 3", { ...said, temperature: 3 }, ".temperature", "OUT_OF_RANGE"],
  ["D18", "a billion tokens", { ...said, max_tokens: 1e9 }, ".max_tokens", "OUT_OF_RANGE"],
  [
    "D18",
    "a stranger's turn",
    { model: "m", messages: [{ role: "god" }] },
    ".messages[0].role",
    "OUT_OF_RANGE",
  ],
  ["T1", "a prompt of a prototype", { model: "m", prompt: PROTO }, ".prompt", "RESERVED_KEY"],
]);

const REQUESTS = rowsOf("http", [
  ["U8", "an address of gopher", { url: "gopher://a.test" }, ".url", "URL_BLOCKED"],
  ["U8", "an address that is data", { url: "data:text/plain,x" }, ".url", "URL_BLOCKED"],
]);

const onNode = (
  row: string,
  what: string,
  node: Part,
  path: string,
  rule: string,
): BadDefinition => ({
  row,
  what,
  text: second({ type: "noop", ...node }),
  path: `nodes[1].${path}`,
  rule,
});
const input = (schema: unknown): Part => ({ contracts: { input: schema } });
const nots = (depth: number): unknown =>
  Array.from({ length: depth }).reduce<unknown>((schema) => ({ not: schema }), true);

const GATES: readonly BadDefinition[] = [
  onNode("D18", "a contract that is a number", input(3), "contracts.input", "CONTRACT_SCHEMA"),
  onNode(
    "D18",
    "a contract of no phase",
    { contracts: { both: {} } },
    "contracts.both",
    "UNKNOWN_KEY",
  ),
  onNode("D18", "an unknown keyword", input({ typo: 1 }), "contracts.input.typo", "UNKNOWN_KEY"),
  onNode(
    "D18",
    "a contract on what no executor sees",
    { type: "map", config: { items: [], body }, contracts: { output: {} } },
    "contracts.output",
    "CONTRACT_PLACE",
  ),
  onNode(
    "U1",
    "a contract that is fetched from elsewhere",
    input({ $ref: "http://127.0.0.1/x" }),
    "contracts.input.$ref",
    "CONTRACT_REF",
  ),
  onNode(
    "D2",
    "a contract that leads to itself",
    input({ $ref: "#" }),
    "contracts.input",
    "CONTRACT_REF",
  ),
  onNode(
    "J2",
    "a contract one level too deep",
    input(nots(LIMITS.contractDepth + 2)),
    `contracts.input${".not".repeat(LIMITS.contractDepth + 1)}`,
    "CONTRACT_TOO_DEEP",
  ),
  onNode(
    "T10",
    "a pattern that multiplies",
    input({ pattern: "((a{1,100}){1,100}){1,100}" }),
    "contracts.input.pattern",
    "CONTRACT_PATTERN",
  ),
  onNode(
    "T8",
    "a pattern that looks back",
    input({ pattern: "(a)\\1" }),
    "contracts.input.pattern",
    "CONTRACT_PATTERN",
  ),
  onNode(
    "T8",
    "a pattern that looks back by name",
    input({ pattern: "(?<n>a)\\k<n>" }),
    "contracts.input.pattern",
    "CONTRACT_PATTERN",
  ),
  onNode("D18", "an unknown moderation", { moderation: "always" }, "moderation", "OUT_OF_RANGE"),
  onNode(
    "D18",
    "an unknown action",
    { moderation_action: "warn" },
    "moderation_action",
    "OUT_OF_RANGE",
  ),
  onNode(
    "D18",
    "moderation of what no executor sees",
    { type: "subworkflow", config: { workflow_id: "w" }, moderation: "both" },
    "moderation",
    "MODERATION_PLACE",
  ),
];

/** All of them. */
export const BAD_PARTS: readonly BadDefinition[] = [
  ...MAPS,
  ...LOOPS,
  ...CHILDREN,
  ...QUERIES,
  ...MODELS,
  ...REQUESTS,
  ...GATES,
];
