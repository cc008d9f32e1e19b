import { expect, test } from "vitest";
import { parseConfig } from "../config.ts";
import { guardedAgent } from "../egress/connect.ts";
import { DEFAULT_EGRESS } from "@pawl/platform/egress/url";
import { providersOf } from "./providers.ts";

function setup(settings: object) {
  const env = { PAWL_LLM_PROVIDERS: JSON.stringify(settings) };
  const egress = { agent: guardedAgent(DEFAULT_EGRESS), policy: DEFAULT_EGRESS };
  return providersOf(parseConfig(env).PAWL_LLM_PROVIDERS, egress);
}

const OPENAI = { kind: "openai", base_url: "https://models.example.com/v1", api_key: "sk-secret" };

test("offline is always there, and is the default of an executor without providers", () => {
  const none = setup({});
  expect(none.find(undefined, "any")).toBe(none.find("offline", "any"));
  expect(none.find("main", "any")).toBeUndefined();
});

test("the default is the provider marked so, else the first; offline/ always has the offline provider", () => {
  const two = setup({ a: OPENAI, b: { ...OPENAI, timeout_ms: 5, default: true } });
  expect(two.find(undefined, "gpt")?.timeoutMs).toBe(5);
  expect(two.find(undefined, "offline/echo")).toBe(two.find("offline", "x"));
  const first = setup({ a: { ...OPENAI, timeout_ms: 7 }, b: OPENAI });
  expect(first.find(undefined, "gpt")?.timeoutMs).toBe(7);
});

test("a provider of each kind has its own settings", () => {
  const both = setup({ a: OPENAI, b: { ...OPENAI, kind: "anthropic", timeout_ms: 9 } });
  expect(both.find("b", "any")?.timeoutMs).toBe(9);
});

test("every fault of the providers is reported at once, without any key", () => {
  const wrong = {
    a: { kind: "openai", base_url: "https://user:sk-secret@x.test", default: true },
    "b c": OPENAI,
    d: { ...OPENAI, api_key: "sk-secret\n", timeout_ms: 0 },
    e: { kind: "other" },
  };
  let message = "";
  try {
    setup(wrong);
  } catch (error) {
    message = error instanceof Error ? error.message : "";
  }
  for (const place of ["a.base_url", "b c", "d.api_key", "d.timeout_ms", "e.kind"]) {
    expect(message).toContain(place);
  }
  expect(message).not.toContain("sk-secret");
});

test("a key is not shown with the configuration", () => {
  const config = parseConfig({ PAWL_LLM_PROVIDERS: JSON.stringify({ a: OPENAI }) });
  expect(JSON.stringify(config)).not.toContain("sk-secret");
});
