import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigFault, type VariableFault } from "@pawl/platform/config/env";
import { expect, onTestFinished, test } from "vitest";
import { parseConfig } from "../config.ts";
import { ruleSetSchema } from "./rule-set.ts";
import { rulesGateway } from "./rules-gateway.ts";

const SUBJECT = { phase: "input", runId: "r", nodeId: "n" } as const;
const NEVER = new AbortController().signal;

const RULES = {
  rules: [
    { id: "names", category: "privacy", literal: "Ada (Lovelace)" },
    { id: "card", pattern: "\\b\\d{4}-\\d{4}\\b" },
    { id: "exact", literal: "SeCrEt", ignore_case: false },
  ],
};

function gateway() {
  const set = ruleSetSchema.parse(RULES);
  if (set === undefined) throw new Error("no rules");
  return rulesGateway(set);
}

test("findings name the rule, its category and the place, and never the text (S1.8)", async () => {
  const value = {
    input: { list: ["fine", "by ADA (LOVELACE)"], "1234-5678": 1, secret: "SeCrEt" },
    config: { body: "card 1234-5678" },
  };
  const verdict = await gateway().check(value, SUBJECT, NEVER);
  expect(verdict).toEqual({
    ok: true,
    findings: [
      { rule: "names", category: "privacy", path: "input.list[1]" },
      { rule: "card", category: "unspecified", path: "input" },
      { rule: "exact", category: "unspecified", path: "input.secret" },
      { rule: "card", category: "unspecified", path: "config.body" },
    ],
  });
  expect(await gateway().check({ input: { a: "secret" } }, SUBJECT, NEVER)).toMatchObject({
    findings: [],
  });
});

test("every fault of a rules file is reported at once, and the executor does not start with it", () => {
  const bad = {
    window: 5,
    rules: [
      { id: "a", literal: "x", pattern: "y" },
      { id: "a b", pattern: "(?=x)" },
      { id: "c", literal: "" },
      { id: "d", pattern: "x*" },
    ],
  };
  const folder = mkdtempSync(join(tmpdir(), "rules-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "rules.json");
  writeFileSync(path, JSON.stringify(bad));
  const env = { PAWL_MODERATION_RULES: path, PAWL_EXECUTOR_SLOTS: "0" };
  const faultsOf = (): readonly VariableFault[] => {
    try {
      parseConfig(env);
      return [];
    } catch (error) {
      return error instanceof ConfigFault ? error.faults : [];
    }
  };
  const told = faultsOf().map(({ variable, expected }) => `${variable} ${expected.split(":")[0]}`);
  expect(new Set(told)).toEqual(
    new Set([
      "PAWL_MODERATION_RULES rules.0",
      "PAWL_MODERATION_RULES rules.1.id",
      "PAWL_MODERATION_RULES rules.1.pattern",
      "PAWL_MODERATION_RULES rules.2.literal",
      "PAWL_MODERATION_RULES rules.3.pattern",
      "PAWL_MODERATION_RULES Unrecognized key",
      "PAWL_EXECUTOR_SLOTS expected a whole number from 1 to 10000",
    ]),
  );
});

test("a YAML file is as good as JSON, and a file that is not there is a fault", () => {
  const folder = mkdtempSync(join(tmpdir(), "rules-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "rules.yaml");
  writeFileSync(path, "rules:\n  - id: a\n    literal: x\n");
  const config = parseConfig({ PAWL_MODERATION_RULES: path });
  expect(config.PAWL_MODERATION_RULES?.rules).toMatchObject([{ id: "a", literalLength: 1 }]);
  expect(() => parseConfig({ PAWL_MODERATION_RULES: join(folder, "none") })).toThrow("can be read");
});

test("rules that repeat an id are refused, and so are rules and a service at once", () => {
  const rule = { id: "d", literal: "x" };
  const read = ruleSetSchema.safeParse({ rules: [rule, rule] });
  expect(read.error?.issues).toMatchObject([{ path: ["rules", 1, "id"] }]);
  const rules = JSON.stringify({ rules: [rule] });
  const env = { PAWL_MODERATION_RULES: rules, PAWL_MODERATION_URL: "http://127.0.0.1:1/" };
  expect(() => parseConfig(env)).toThrow("not both");
  expect(() => parseConfig({ PAWL_MODERATION_URL: "ftp://x" })).toThrow("PAWL_MODERATION_URL");
});
