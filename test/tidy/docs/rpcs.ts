// Which calls of the contracts each client makes. A client makes a call if its source names the method as its language spells it.
import { ROOT, trackedSources } from "../sources.ts";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { LANGUAGES, type Language } from "./parity.ts";
import { readProto } from "./protos.ts";

const NO_BULKS = "this client has no bulks yet";
const BULK_CALLS = {
  StartBulk: NO_BULKS,
  GetBulk: NO_BULKS,
  ListBulks: NO_BULKS,
  ListBulkRuns: NO_BULKS,
  ContinueBulk: NO_BULKS,
  StopBulk: NO_BULKS,
};

/** Calls that a client leaves out, each with its reason. */
export const LEFT_OUT: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  ts: {},
  python: BULK_CALLS,
  go: BULK_CALLS,
};

/** Where a client makes its calls, and how the source spells one. */
const CALLS: Readonly<
  Record<
    Language,
    { readonly files: RegExp; readonly spell: (service: string, method: string) => RegExp }
  >
> = {
  ts: {
    files: /^clients\/ts\/src\/(?!.*\.(test|fixture)\.ts).*\.ts$/,
    spell: (service, method) => {
      const name = `${method.charAt(0).toLowerCase()}${method.slice(1)}`;
      return new RegExp(`\\b(rpc|\\w*[sS]ervice)\\.${name}\\b|/pawl\\.v1\\.${service}/${method}"`);
    },
  },
  python: {
    files: /^clients\/python\/src\/pawl_sdk\/(?!_gen\/).*\.py$/,
    spell: (service, method) => new RegExp(`Method\\(\\s*"/pawl\\.v1\\.${service}/${method}"`),
  },
  go: {
    files: /^clients\/go\/pawl\/(?!.*_test\.go).*\.go$/,
    spell: (service, method) =>
      new RegExp(`\\b(rpc|events|New${service}Client\\(\\w+\\))\\.${method}\\b`),
  },
};

/** Every method of pawl.v1, with its service. */
export function methods(): readonly { readonly service: string; readonly method: string }[] {
  const files = readdirSync(join(ROOT, "proto", "pawl", "v1"));
  return files
    .filter((name) => name.endsWith(".proto"))
    .flatMap((name) => readProto(`pawl/v1/${name}`))
    .filter(({ kind }) => kind === "service")
    .flatMap(({ name, members }) => members.map(({ name: method }) => ({ service: name, method })));
}

/** The methods that a client does not call, by language. */
export function uncalled(): Readonly<Record<Language, readonly string[]>> {
  const all = methods();
  const of = (language: Language): readonly string[] => {
    const { files, spell } = CALLS[language];
    const source = trackedSources((path) => files.test(path))
      .map(({ text }) => text)
      .join("\n");
    return all
      .filter(({ service, method }) => !spell(service, method).test(source))
      .map(({ method }) => method);
  };
  const [ts, python, go] = LANGUAGES.map(of);
  return { ts: ts ?? [], python: python ?? [], go: go ?? [] };
}
