import fc from "fast-check";
import { expect, test } from "vitest";
import { redact, redactValue } from "./redact.ts";

test.each([
  ["postgres://u:hunter2@h:5432/d", "postgres://u:***@h:5432/d"],
  ["postgres://:hunter2@h/d", "postgres://:***@h/d"],
  ["postgres://u:hun@ter2@h/d", "postgres://u:***@h/d"],
  [
    "postgres://h/d?user=u&password=hunter2&sslmode=require",
    "postgres://h/d?user=u&password=***&sslmode=require",
  ],
  ["postgres://h/d?p%61ssword=hunter2", "postgres://h/d?p%61ssword=***"],
  ["https://h/check?API_KEY=hunter2#token=hunter2", "https://h/check?API_KEY=***"],
  ['{"kind":"x","api_key":"hun\\"ter2"}', '{"kind":"x","api_key":"***"}'],
  ["host=h user=u password=hunter2 dbname=d", "host=h user=u password=*** dbname=d"],
  ["host=h password = 'hun ter2' dbname=d", "host=h password = *** dbname=d"],
  ["a list: redis://u:hunter2@a, redis://u:hunter2@b", "a list: redis://u:***@a, redis://u:***@b"],
])("%s is printed as %s", (text, printed) => expect(redact(text)).toBe(printed));

test.each([
  "postgres://u@h/d?sslmode=require",
  "127.0.0.1:7401",
  "http://localhost:5173",
  "info",
  "",
])("%j holds no secret and is printed as it is", (text) =>
  expect(redactValue("PAWL_X", text)).toBe(text),
);

test("a value with the name of a secret is hidden, and a value that is not text stays", () => {
  expect(redactValue("api_key", "sk-1")).toBe("***");
  expect(redactValue("max_tokens", 7)).toBe(7);
});

const word = fc.stringMatching(/^[A-Za-z0-9._~!$'()*+-]{1,20}$/);
const secretName = fc.constantFrom(
  "password",
  "PASSWORD",
  "sslpassword",
  "api_key",
  "access_token",
  "client_secret",
  "x-signature",
);

test("no password of an address and no secret parameter is printed, at any place of a text", () => {
  fc.assert(
    fc.property(
      word,
      word,
      secretName,
      fc.array(fc.tuple(word, word)),
      (user, host, name, more) => {
        const secret = "hunter2-0123456789";
        const query = [...more.map(([key, value]) => `${key}=${value}`), `${name}=${secret}`];
        for (const text of [
          `postgres://${user}:${secret}@${host}/d`,
          `postgres://${host}/d?${query.join("&")}`,
          `postgres://${user}:${secret}@${host}/d?${query.toReversed().join("&")}`,
          query.join(" "),
          query.join("; "),
        ])
          expect(redact(text)).not.toContain("hunter2");
      },
    ),
    { seed: 7 },
  );
});
