// The generated parts of the pages in docs, and of clients/PARITY.md. A page is written by hand. Facts from the code are in blocks between
// `<!-- generated: name -->` and `<!-- end of generated -->`. `npm run docs` fills these blocks, and a test compares them.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, trackedSources } from "../sources.ts";
import { assignmentTables } from "./assignment.ts";
import { commandSections, commandTable, exitTable } from "./cli.ts";
import { variableSections } from "./configuration.ts";
import { designVariableTable } from "./design-variables.ts";
import { causeTable, classTable, reasonTable } from "./errors.ts";
import { envelopeTable, eventSections, eventTable } from "./events.ts";
import { rpcSections } from "./http.ts";
import { metricTable } from "./metrics.ts";
import { nodeKeyTable, nodeTypeLinks, nodeTypeSections } from "./node-types.ts";
import { parityTables } from "./parity.ts";

/** The generators of the blocks, by name. */
export const BLOCKS: Readonly<Record<string, () => string>> = {
  "node-type-links": nodeTypeLinks,
  "node-keys": nodeKeyTable,
  "node-types": nodeTypeSections,
  variables: variableSections,
  "design-variables": designVariableTable,
  reasons: reasonTable,
  causes: causeTable,
  classes: classTable,
  events: eventTable,
  "event-envelope": envelopeTable,
  "event-fields": eventSections,
  metrics: metricTable,
  commands: commandTable,
  "command-help": commandSections,
  "exit-codes": exitTable,
  rpcs: rpcSections,
  parity: parityTables,
  "assignment-json": assignmentTables,
};

const BLOCK = /(<!-- generated: ([\w-]+) -->)[\s\S]*?(<!-- end of generated -->)/g;

/** The names of the blocks of a page. */
export const blockNames = (markdown: string): readonly string[] =>
  [...markdown.matchAll(BLOCK)].map(([, , name = ""]) => name);

/** The page with every block made again. */
export function fillBlocks(markdown: string): string {
  return markdown.replace(BLOCK, (_, head: string, name: string, end: string) => {
    const make = BLOCKS[name];
    if (make === undefined) throw new Error(`there is no generated block called ${name}`);
    return `${head}\n\n${make()}\n\n${end}`;
  });
}

/** The pages that have blocks. */
export const pagesWithBlocks = (): readonly string[] =>
  trackedSources((path) => /^(docs\/.*|clients\/PARITY)\.md$/.test(path))
    .filter(({ text }) => blockNames(text).length > 0)
    .map(({ path }) => path);

if (process.argv[1]?.endsWith("blocks.ts")) {
  for (const path of pagesWithBlocks()) {
    const file = join(ROOT, path);
    writeFileSync(file, fillBlocks(readFileSync(file, "utf8")));
  }
}
