// Definitions whose text, templates, conditions or scripts break one rule each, with the place and the name of the rule (rows J
// and T of the catalogue of bad inputs).
import { LIMITS } from "@pawl/core/data/limits";
import { type BadDefinition, LONG, withConfig } from "./bad-definition.ts";

const whole = (row: string, what: string, source: string, rule: string): BadDefinition => ({
  row,
  what,
  text: source,
  path: "",
  rule,
});

const TEXTS: readonly BadDefinition[] = [
  whole("D19", "text that is neither JSON nor YAML", `nodes: [${LONG}`, "YAML_SYNTAX"),
  whole(
    "D19",
    "a second YAML document",
    "nodes:\n  - { id: start, type: start }\n---\nnodes: []\n",
    "YAML_SYNTAX",
  ),
  whole("D19", "half an object", '{"nodes":', "JSON_SYNTAX"),
  whole("J2", "ten thousand levels of JSON", `{"nodes":${"[".repeat(10_000)}`, "JSON_TOO_DEEP"),
  whole("J2", "ten thousand levels of YAML", `nodes: ${"[".repeat(10_000)}`, "JSON_TOO_DEEP"),
  whole("J4", "the key __proto__", '{"nodes":[],"__proto__":{}}', "RESERVED_KEY"),
  whole("J5", "a key twice", '{"nodes":[],"nodes":[]}', "JSON_DUPLICATE_KEY"),
  whole("J5", "a key twice in YAML", "nodes: []\nnodes: []\n", "JSON_DUPLICATE_KEY"),
  whole("J8", "an integer that would be rounded", '{"nodes":9007199254740993}', "NUMBER_PRECISION"),
  whole(
    "J8",
    "an integer that would be rounded in YAML",
    "nodes: 9007199254740993",
    "NUMBER_PRECISION",
  ),
  whole("J13", "half a surrogate pair", '{"title":"\\ud800"}', "BAD_UNICODE"),
  whole("J14", "a NUL character", '{"title":"\\u0000"}', "NUL_CHARACTER"),
  whole("J14", "a NUL character in YAML", 'title: "\\0"', "NUL_CHARACTER"),
  whole("J15", "a byte order mark", '\ufeff{"nodes":[]}', "JSON_SYNTAX"),
  whole("J15", "a byte order mark in YAML", "\ufeffnodes: []\n", "YAML_SYNTAX"),
  whole("J19", "two thousand keys inside one another in YAML", "? ".repeat(2_000), "JSON_TOO_DEEP"),
  whole(
    "J19",
    "two thousand lists inside one another in YAML",
    "- ".repeat(2_000),
    "JSON_TOO_DEEP",
  ),
  {
    ...whole(
      "J19",
      "YAML of one byte too many",
      " ".repeat(LIMITS.definitionYamlBytes + 1),
      "TOO_LARGE",
    ),
    reason: "LIMIT_EXCEEDED",
  },
  whole("J19", "an alias in YAML", "a: &a [1]\nnodes: [*a, *a]\n", "YAML_ALIAS"),
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
  inWhen("T13", "a condition that is a list", "[1]", "CONDITION_TYPE"),
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
export const BAD_TEXTS: readonly BadDefinition[] = [...TEXTS, ...EXPRESSIONS];
