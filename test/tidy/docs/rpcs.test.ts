// Every call of the contracts is in every client, or is listed with the reason. It takes less than a second.
import { expect, test } from "vitest";
import { LANGUAGES } from "./parity.ts";
import { LEFT_OUT, methods, uncalled } from "./rpcs.ts";

test("every rpc of pawl.v1 is in each client, or left out for a reason", () => {
  expect(methods().length).toBeGreaterThan(45);
  const missing = uncalled();
  for (const language of LANGUAGES)
    expect([language, ...missing[language]]).toEqual([
      language,
      ...Object.keys(LEFT_OUT[language]),
    ]);
});
