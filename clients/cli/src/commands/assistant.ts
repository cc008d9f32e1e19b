// pawl assistant create, list, get, update, delete.

import {
  type AssistantInput,
  type Json,
  jsonOf,
  jsonTextOf,
  type Multitask,
  plainAssistant,
  type StartDefaults,
  type ThreadRelease,
} from "@pawl/client";
import type { Assistant } from "@pawl/proto/pawl/v1/assistant_pb";
import { type Command, Option } from "commander";
import { askedBudget, type BudgetFlags, budgetFlags, budgetOf } from "../budget-flags.ts";
import { collect, pageFlags, type PageFlags, type Verb, wholeNumber } from "../grammar.ts";
import { isoText } from "../render/words.ts";
import { readJsonFlag } from "../run-input.ts";
import { print, printList, type Session, UsageError } from "../session.ts";

const THREAD_RELEASE = new Option(
  "--thread-release <when>",
  "whether its runs give their threads up while they wait for people; default never",
).choices(["never", "when_wanted"]);
const MULTITASK = new Option(
  "--multitask <strategy>",
  "what happens to runs of its thread that have not ended; default reject",
).choices(["reject", "enqueue", "interrupt", "rollback"]);

export function assistantVerbs(assistant: Command, verb: Verb): void {
  const spec = (command: Command): Command =>
    budgetFlags(command)
      .option("--workflow <id>", "the workflow that its runs are of")
      .option("--version <number>", "which version; 0 is the newest at each start", wholeNumber)
      .option("--config <json>", "a JSON object for ctx.config: JSON, or @FILE")
      .option("--metadata <json>", "a JSON object that describes it: JSON, or @FILE")
      .option("--goal <text>", "what its runs are for; default the definition's own")
      .option("--constraint <text>", "a rule that the nodes respect; may be repeated", collect)
      .addOption(MULTITASK)
      .addOption(THREAD_RELEASE);
  spec(verb(assistant, "create [assistant]", "Create an assistant", create));
  pageFlags(
    verb(assistant, "list", "List assistants", list)
      .option("--metadata <json>", "only assistants whose metadata contains this JSON object")
      .option("--workflow <id>", "only of this workflow"),
  );
  verb(assistant, "get <assistant>", "Show an assistant", get);
  const updates = "Change an assistant; fields without a flag stay";
  spec(verb(assistant, "update <assistant>", updates, update));
  verb(assistant, "delete <assistant>", "Delete an assistant with its runs", remove).option(
    "--force",
    "cancel runs that have not ended",
  );
}

interface SpecFlags extends BudgetFlags {
  readonly workflow?: string;
  readonly version?: number;
  readonly config?: string;
  readonly metadata?: string;
  readonly goal?: string;
  readonly constraint?: readonly string[];
  readonly multitask?: Multitask;
  readonly threadRelease?: ThreadRelease;
}

async function create(
  session: Session,
  assistantId: string | undefined,
  flags: SpecFlags,
): Promise<void> {
  const { workflow: workflowId } = flags;
  if (workflowId === undefined) throw new UsageError("Name its workflow: --workflow ID.");
  const input = { ...(await given(session, flags)), workflowId, defaults: defaultsOf(flags) };
  const { client, interrupted: signal } = session;
  show(session, await client.assistants.create(assistantId ?? "", input, { signal }));
}

/** Changes the named fields. Race: another client edits the assistant meanwhile. The server refuses this edit. */
async function update(session: Session, assistantId: string, flags: SpecFlags): Promise<void> {
  const { client, interrupted: signal } = session;
  const { spec, version } = await client.assistants.get(assistantId, { signal });
  const input = {
    workflowId: spec?.workflowId ?? "",
    workflowVersion: spec?.workflowVersion,
    configJson: jsonTextOf(spec?.configJson),
    metadata: jsonOf(spec?.metadataJson ?? new Uint8Array()),
    ...(await given(session, flags)),
    defaults: { ...knownDefaults(spec), ...defaultsOf(flags) },
  };
  const options = { expectedVersion: version, signal };
  show(session, await client.assistants.update(assistantId, input, options));
}

type Given = Partial<Omit<AssistantInput, "defaults">>;

/** The fields that the flags name. */
async function given(session: Session, flags: SpecFlags): Promise<Given> {
  const { workflow: workflowId, version: workflowVersion, config, metadata } = flags;
  return {
    ...(workflowId === undefined ? {} : { workflowId }),
    ...(workflowVersion === undefined ? {} : { workflowVersion }),
    ...(config === undefined ? {} : { configJson: await readJsonFlag(session, "config", config) }),
    ...(metadata === undefined ? {} : { metadata: await metadataOf(session, metadata) }),
  };
}

const metadataOf = async (session: Session, text: string): Promise<Json> =>
  JSON.parse(await readJsonFlag(session, "metadata", text)) as Json;

/** The defaults that the flags name. */
function defaultsOf({
  goal,
  constraint,
  multitask,
  threadRelease,
  ...flags
}: SpecFlags): StartDefaults {
  const budget = budgetOf(flags);
  return {
    ...(goal === undefined ? {} : { goal }),
    ...(constraint === undefined ? {} : { constraints: constraint }),
    ...(multitask === undefined ? {} : { multitask }),
    ...(threadRelease === undefined ? {} : { threadRelease }),
    ...(budget === undefined ? {} : { budget }),
  };
}

/** The defaults that an assistant has, in the form of a request. */
function knownDefaults(spec: Assistant["spec"]): StartDefaults {
  const { goal = "", constraints = [], budget } = spec?.defaults ?? {};
  const multitask = STRATEGIES[spec?.defaults?.multitaskStrategy ?? 0];
  const threadRelease = RELEASES[spec?.defaults?.threadRelease ?? 0];
  return {
    ...{ goal, constraints },
    ...(threadRelease === undefined ? {} : { threadRelease }),
    ...(multitask === undefined ? {} : { multitask }),
    ...(budget === undefined ? {} : { budget: askedBudget(budget) }),
  };
}

const RELEASES: Readonly<Record<number, ThreadRelease>> = { 1: "never", 2: "when_wanted" };
const STRATEGIES: Readonly<Record<number, Multitask>> = {
  1: "reject",
  2: "enqueue",
  3: "interrupt",
  4: "rollback",
};

async function list(
  session: Session,
  flags: PageFlags & Pick<SpecFlags, "metadata" | "workflow">,
): Promise<void> {
  const { limit: pageSize, pageToken, workflow: workflowId, metadata: text } = flags;
  const metadata = text === undefined ? undefined : await metadataOf(session, text);
  const { client, interrupted: signal, self } = session;
  const asked = { metadata, workflowId, pageSize, pageToken, signal };
  const { assistants: items, nextPageToken } = await client.assistants.list(asked);
  printList(session, {
    items,
    json: { assistants: items.map(plainAssistant), nextPageToken },
    none: `No assistants. Make one with \`${self} assistant create ID --workflow ID\`.`,
    heads: ["ASSISTANT", "WORKFLOW", "VERSION", "UPDATED"],
    rowOf: (each) => [
      each.assistantId,
      workflowOf(each),
      String(each.version),
      isoText(each.updateTime),
    ],
    next: [`${self} assistant list`, nextPageToken],
  });
}

async function get(session: Session, assistantId: string): Promise<void> {
  const { client, interrupted: signal } = session;
  show(session, await client.assistants.get(assistantId, { signal }));
}

async function remove(
  session: Session,
  assistantId: string,
  { force }: { readonly force?: boolean },
): Promise<void> {
  await session.client.assistants.delete(assistantId, { force, signal: session.interrupted });
  print(session, { assistantId, deleted: true }, () => [`${assistantId} deleted, with its runs`]);
}

function workflowOf({ spec }: Assistant): string {
  const { workflowId = "", workflowVersion = 0 } = spec ?? {};
  return workflowVersion === 0 ? `${workflowId}, newest` : `${workflowId} v${workflowVersion}`;
}

const show = (session: Session, assistant: Assistant): void =>
  print(session, plainAssistant(assistant), () => [
    `${assistant.assistantId} v${assistant.version}: ${workflowOf(assistant)}`,
    `config ${jsonTextOf(assistant.spec?.configJson) ?? "{}"}`,
  ]);
