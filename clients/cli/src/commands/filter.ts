// pawl filter: filters of runs that are kept under a name. `pawl run list --saved NAME` uses them.

import { isoText } from "../render/words.ts";
import type { Command } from "commander";
import { type PageFlags, pageFlags, type Verb } from "../grammar.ts";
import { print, printList, type Session } from "../session.ts";

export function filterVerbs(filter: Command, verb: Verb): void {
  verb(filter, "save <name> <filter>", "Keep a filter of runs under a name", save);
  pageFlags(verb(filter, "list", "List the kept filters", list));
  verb(filter, "delete <name>", "Delete a kept filter", remove);
}

async function save(session: Session, name: string, filter: string): Promise<void> {
  const { client, interrupted: signal, self } = session;
  const kept = await client.runs.saveFilter(name, filter, { signal });
  print(session, { name: kept.name, filter: kept.filter }, () => [
    `${kept.name} is kept; use it with \`${self} run list --saved ${kept.name}\``,
  ]);
}

async function list(session: Session, { limit: pageSize, pageToken }: PageFlags): Promise<void> {
  const { client, interrupted: signal, self } = session;
  const page = await client.runs.filters({ pageSize, pageToken, signal });
  printList(session, {
    items: page.runFilters,
    json: {
      filters: page.runFilters.map(({ name, filter, updateTime }) => ({
        name,
        filter,
        updateTime: isoText(updateTime),
      })),
      nextPageToken: page.nextPageToken,
    },
    none: `No filters. Keep one with \`${self} filter save NAME FILTER\`.`,
    heads: ["NAME", "FILTER"],
    rowOf: ({ name, filter }) => [name, filter],
    next: [`${self} filter list`, page.nextPageToken],
  });
}

async function remove(session: Session, name: string): Promise<void> {
  await session.client.runs.deleteFilter(name, { signal: session.interrupted });
  print(session, { name, deleted: true }, () => [`${name} is deleted`]);
}
