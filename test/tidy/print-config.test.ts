// `--print-config` of every service shows no password, in no variable and at no place of its value.

import * as executor from "@pawl/executor/config";
import * as gateway from "@pawl/gateway/config";
import { configRows } from "@pawl/platform/config/command";
import * as scheduler from "@pawl/scheduler/config";
import { expect, test } from "vitest";

const SECRET = "hunter2";

/** Where a password may stand in an address. */
const ADDRESSES = ["postgres", "https"].flatMap((scheme) => [
  `${scheme}://u:${SECRET}@h.example/d`,
  `${scheme}://:${SECRET}@h.example/d`,
  `${scheme}://u:x@y${SECRET}@h.example/d`,
  `${scheme}://h.example/d?password=${SECRET}`,
  `${scheme}://h.example/d?sslmode=require&Password=${SECRET}&x=1`,
  `${scheme}://h.example/d?p%61ssword=${SECRET}`,
  `${scheme}://h.example/d?sslpassword=${SECRET}&token=${SECRET}`,
  `${scheme}://u:${SECRET}@h.example/d?api_key=${SECRET}#access_token=${SECRET}`,
]);
/** What a variable may be set to: the address itself, a list of them, or a document that holds it. */
const TEXTS = ADDRESSES.flatMap((url) => [
  url,
  `${url},${url}`,
  JSON.stringify({ one: { url } }),
  JSON.stringify({ one: { kind: "openai", base_url: url } }),
  JSON.stringify({ one: { kind: "openai", base_url: "https://h.example/v1", api_key: SECRET } }),
]);

const SERVICES = { gateway, scheduler, executor } as const;
const DATABASE_URL = "postgres://u@h.example/d";

const schemaOf = (service: keyof typeof SERVICES) => SERVICES[service].ConfigSchema;

const variables = Object.entries(SERVICES).flatMap(([service, { ConfigSchema }]) =>
  Object.keys(ConfigSchema.shape).map((variable) => [service, variable] as const),
);

test("every service declares variables, and those that hold secrets are among them", () => {
  expect(variables).toContainEqual(["gateway", "DATABASE_URL"]);
  expect(variables).toContainEqual(["scheduler", "DATABASE_URL"]);
  expect(variables).toContainEqual(["executor", "PAWL_DATA_SOURCES"]);
});

test.each(variables)("--print-config of the %s hides a password in %s", (service, variable) => {
  // The list above holds the names of SERVICES.
  const name = service as keyof typeof SERVICES;
  const { parseConfig } = SERVICES[name];
  let taken = 0;
  for (const text of TEXTS) {
    let config: unknown;
    try {
      config = parseConfig({ DATABASE_URL, [variable]: text });
    } catch (error) {
      // A value that is refused is not printed either.
      expect(String(error)).not.toContain(SECRET);
      continue;
    }
    taken += 1;
    const rows = configRows(schemaOf(name), config, {});
    expect(JSON.stringify(rows)).not.toContain(SECRET);
  }
  const holdsAddresses = /DATABASE_URL|DATA_SOURCES|LLM_PROVIDERS|MODERATION_URL/.test(variable);
  expect(taken > 0 || !holdsAddresses).toBe(true);
});
