// What help says beside commander's own words: examples a person can copy, and the flags of every command once, at the end.

import type { Command } from "commander";

/** What --request-id is for, wherever it is. */
export const REQUEST_ID = "idempotency key: a repeat under the same id changes nothing";

const SHARED = `
Every command takes:
  --address <url>        gateway; default: PAWL_ADDRESS or http://127.0.0.1:7400
  -o, --output <format>  table or json`;

/** Examples by command, as they are typed behind the name of this program. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "": [
    "workflow apply -f greet.yaml",
    'run start greet --input \'{"name": "Ada"}\' --wait',
    "run list --status failed",
    "approval list",
  ],
  "run start": [
    "run start hello --set name=Ada --wait",
    "run start order-review --sample --wait",
    "run start hello --input @input.json -o json | jq -r .runId",
  ],
  "run test": ["run test -f greet.yaml --sample --wait"],
  "run watch": [
    "run watch 8918bc96            # the end of a run id is enough",
    "run watch RUN --after 20",
  ],
  "run list": ["run list --status failed timeout", "run list --workflow greet --limit 5"],
  "run explain": ["run explain RUN approve-refund"],
  "workflow apply": ["workflow apply -f greet.yaml", "cat greet.yaml | SELF workflow apply -f -"],
  "approval approve": [
    "approval approve 8918bc96 --by ada --comment 'checked'",
    "approval approve 8918bc96 --response '{\"amount\": 480}'",
  ],
  "schedule create": [
    "schedule create nightly --workflow nightly-report --cron '30 2 * * *' --time-zone Europe/Berlin",
  ],
  "queue pause": ["queue pause http --by ada --reason 'the partner is down'"],
  "dead-letter redrive": ["dead-letter preview --workflow greet", "dead-letter redrive --all"],
};

/** Adds them to a command and to all below it. */
export function addHelp(command: Command, self: string, path: readonly string[] = []): void {
  const lines = EXAMPLES[path.join(" ")] ?? [];
  const typed = lines.map((line) =>
    line.includes("SELF") ? `  ${line.replace("SELF", self)}` : `  ${self} ${line}`,
  );
  const examples = typed.length === 0 ? "" : `\nExamples:\n${typed.join("\n")}\n`;
  const isLeaf = command.commands.length === 0;
  command.addHelpText("after", `${examples}${isLeaf || path.length === 0 ? SHARED : ""}`);
  for (const below of command.commands) addHelp(below, self, [...path, below.name()]);
}
