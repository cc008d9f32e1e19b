// The saved workflows as pawl handler doctor reads them: which node types each uses, and whether its definition still fits the schemas that
// handlers publish now. A type may change after a workflow was saved.

import { jsonOf, type PawlClient, type Validation } from "@pawl/client";

/** A saved workflow, checked again. */
export interface SavedWorkflow {
  readonly workflowId: string;
  readonly types: ReadonlySet<string>;
  /** Lines count in the text that `pawl workflow get` prints. */
  readonly faults: Pick<Validation, "violations" | "warnings">;
}

const PAGE_SIZE = 200;
/** Workflows that are read. */
const WORKFLOWS_MAX = 400;
/** Workflows that are read at once: enough to hide the round trips, and no load for a gateway. */
const READS_AT_ONCE = 8;

/** Reads and checks the saved workflows, as far as `isCut` says. @throws PawlError */
export async function savedWorkflows(client: PawlClient, signal: AbortSignal) {
  const workflows: SavedWorkflow[] = [];
  for (let pageToken = ""; ;) {
    const page = await client.workflows.list({ pageSize: PAGE_SIZE, pageToken, signal });
    const ids = page.workflows.map(({ workflowId }) => workflowId);
    workflows.push(...(await severalAtOnce(ids, (id) => checked(client, id, signal))));
    pageToken = page.nextPageToken;
    if (pageToken === "" || workflows.length >= WORKFLOWS_MAX)
      return { workflows, isCut: pageToken !== "" };
  }
}

async function checked(
  client: PawlClient,
  workflowId: string,
  signal: AbortSignal,
): Promise<SavedWorkflow> {
  const { definitionJson } = await client.workflows.get(workflowId, { signal });
  const definition = jsonOf(definitionJson);
  const text = JSON.stringify(definition, undefined, 2);
  const faults = await client.workflows.validate(text, { signal });
  return { workflowId, types: typesIn(definition), faults };
}

/** Acts on every item, a few at a time; the results have the order of the items. */
async function severalAtOnce<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, work));
  return results;
}

/** The types of the nodes of a definition, and of the bodies of its maps and loops. */
function typesIn(definition: unknown): ReadonlySet<string> {
  const types = new Set<string>();
  const add = (node: unknown): void => {
    if (!isObject(node)) return;
    if (typeof node["type"] === "string") types.add(node["type"]);
    const { config } = node;
    if (isObject(config)) add(config["body"]);
  };
  const nodes = isObject(definition) ? definition["nodes"] : undefined;
  if (Array.isArray(nodes)) for (const node of nodes) add(node);
  return types;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
