// The variables of the first design and their counterparts. A default that changes here without its reason fails.
import { LIMITS } from "@pawl/core/data/limits";
import { DEFAULT_RETRY, STANDARD_RETRY } from "@pawl/core/policy/retry";
import { KNOWN_VARIABLES } from "@pawl/platform/config/known";
import { expect, test } from "vitest";
import { behaviours } from "../../checklist/ids.ts";
import { variables } from "../env-example.ts";
import { DESIGN_VARIABLES } from "./design-variables.ts";

/** Defaults that are no variables. */
const FIXED: Readonly<Record<string, number>> = {
  timeout_ms: LIMITS.nodeTimeoutMs,
  deadline_ms: LIMITS.runDeadlineMs,
  "lost executors": LIMITS.deliveriesMax,
  retry: DEFAULT_RETRY.attempts,
};

const SERVICES = variables();

/** The real default of a counterpart. */
function realDefault(name: string, place: string): string {
  if (place === "definition" || place === "engine") return String(FIXED[name]);
  const variable = SERVICES[place]?.find((one) => one.name === name);
  if (variable === undefined) return `the ${place} has no ${name}`;
  return variable.default ?? "required";
}

test("every counterpart of a variable of the first design has the default that its row says (S4.42)", () => {
  for (const { ours } of DESIGN_VARIABLES)
    for (const { name, at, preset } of ours)
      for (const place of at)
        expect([place, name, realDefault(name, place)]).toEqual([place, name, preset]);
  expect(STANDARD_RETRY.attempts).toBe(3);
  const interval = DESIGN_VARIABLES.find(({ name }) => name === "STATS_INTERVAL_SECS");
  const ours = KNOWN_VARIABLES.filter((name) => name === "PAWL_STATS_MS");
  expect(interval?.ours.map(({ name }) => name)).toEqual(ours);
});

test("every variable of the first design has a row with its default, and a row without a reason has the same default here (S4.42)", () => {
  const text = behaviours().find(({ id }) => id === "S4.42")?.text ?? "";
  const promised = [...text.matchAll(/\b([A-Z]+(?:_[A-Z]+)+) (?:= )?([^,.]+)/g)].map(
    ([, name = "", preset = ""]) => [name, preset],
  );
  const rows = DESIGN_VARIABLES.map(({ name, preset, shown }) => [name, shown ?? preset]);
  const words: Readonly<Record<string, string>> = { "300": "300 s", "60": "60 s", false: "off" };
  expect(rows).toEqual(promised.map(([name = "", preset = ""]) => [name, words[preset] ?? preset]));
  for (const { name, preset, ours, why } of DESIGN_VARIABLES) {
    const isSame = ours.length > 0 && ours.every((one) => one.preset === preset);
    expect([name, why === ""]).toEqual([name, isSame]);
  }
});
