// Which behaviours the tests name, and which they do not.
import { titlesOf } from "../tidy/rules.ts";
import { isTest, isTypeScript, trackedSources } from "../tidy/sources.ts";
import type { Source } from "../tidy/sources.ts";
import { behaviours, idsIn, seedOf } from "./ids.ts";
import type { Behaviour } from "./ids.ts";
import { WAIVERS } from "./waivers.ts";

/** The state of one seed. */
export type SeedCoverage = {
  readonly seed: string;
  readonly total: number;
  readonly named: number;
  readonly waived: number;
  readonly missing: readonly Behaviour[];
};

/** What the tests say about the list. */
type Coverage = {
  readonly seeds: readonly SeedCoverage[];
  /** Faults of the bookkeeping itself: unknown ids, waivers that tests contradict. */
  readonly faults: readonly string[];
};

/** Compares the titles of these test files with the list. */
export function coverageOf(sources: readonly Source[]): Coverage {
  const all = behaviours();
  const known = new Set(all.map(({ id }) => id));
  const named = new Map<string, string>();
  for (const source of sources) {
    for (const { title, line } of titlesOf(source)) {
      for (const id of idsIn(title)) named.set(id, `${source.path}:${line}`);
    }
  }
  const unknown = [...named].filter(([id]) => !known.has(id));
  const idle = Object.keys(WAIVERS).filter((id) => named.has(id) || !known.has(id));
  const seeds = Map.groupBy(all, ({ id }) => seedOf(id));
  return {
    seeds: [...seeds].map(([seed, own]) => ({
      seed,
      total: own.length,
      named: own.filter(({ id }) => named.has(id)).length,
      waived: own.filter(({ id }) => id in WAIVERS).length,
      missing: own.filter(({ id }) => !named.has(id) && !(id in WAIVERS)),
    })),
    faults: [
      ...unknown.map(([id, place]) => `${place} names ${id}, which is not on the list`),
      ...idle.map((id) => `the waiver of ${id} is not needed`),
    ],
  };
}

/** Every tracked file that may hold tests, shared suites included. */
export function testSources(): readonly Source[] {
  return trackedSources((path) => isTypeScript(path) && isTest(path));
}
