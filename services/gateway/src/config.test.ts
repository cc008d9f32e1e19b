import { expect, test } from "vitest";
import { parseConfig } from "./config.ts";

const DATABASE_URL = "postgres://pawl:secret@127.0.0.1:5432/pawl";

test("only a database is needed; the rest has defaults", () => {
  const config = parseConfig({ DATABASE_URL });
  expect(config).toMatchObject({
    PAWL_GATEWAY_HOST: "127.0.0.1",
    PAWL_GATEWAY_PORT: 7400,
    PAWL_SCHEDULER_ADDRESS: "127.0.0.1:7401",
    PAWL_ALLOWED_HOSTS: [],
    PAWL_REFLECTION: true,
  });
  expect(JSON.stringify(config)).not.toContain("secret");
});

test("the gateway listens only on loopback, because it has no authentication", () => {
  for (const host of ["127.0.0.1", "::1", "localhost"]) {
    expect(parseConfig({ DATABASE_URL, PAWL_GATEWAY_HOST: host }).PAWL_GATEWAY_HOST).toBe(host);
  }
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "example.org"]) {
    expect(() => parseConfig({ DATABASE_URL, PAWL_GATEWAY_HOST: host })).toThrow("loopback");
  }
});

test("commas separate the items of a list", () => {
  const config = parseConfig({ DATABASE_URL, PAWL_ALLOWED_ORIGINS: "http://a:1, http://b:2," });
  expect(config.PAWL_ALLOWED_ORIGINS).toEqual(["http://a:1", "http://b:2"]);
});
