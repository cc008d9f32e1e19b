// pawl workflow apply, validate, list, get, delete.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { jsonOf, plainWorkflow } from "@pawl/client";
import type { Command } from "commander";
import {
  EXIT,
  type ExitCode,
  print,
  printJson,
  printList,
  printNotes,
  printPretty,
  readFileText,
  type Session,
} from "../session.ts";
import { fileFlag, type PageFlags, pageFlags, type Verb, wholeNumber } from "../grammar.ts";
import { formatDuration } from "../render/words.ts";
import {
  fileName,
  placedLines,
  plainViolation,
  printWarnings,
  rulesText,
  withDefinition,
} from "./definition-faults.ts";

export function workflowVerbs(workflow: Command, verb: Verb): void {
  fileFlag(verb(workflow, "apply", "Create or update a workflow", apply))
    .option("--id <id>", "workflow id; default: the id in the definition")
    .option("--strict", "refuse a definition with warnings");
  const validates = "Check a definition and list every broken rule";
  fileFlag(verb(workflow, "validate", validates, validate)).option(
    "--strict",
    "warnings count as broken rules",
  );
  pageFlags(verb(workflow, "list", "List workflows", list));
  verb(workflow, "get <workflow>", "Print the definition of a workflow", get).option(
    "--version <number>",
    "which version; default the newest",
    wholeNumber,
  );
  const deletes = "Delete a workflow; its runs keep their history";
  verb(workflow, "delete <workflow>", deletes, remove).option(
    "--force",
    "delete although runs are live; they run to their end",
  );
}

/** Saves the definition of the file. */
async function apply(
  session: Session,
  flags: { readonly file: string; readonly id?: string; readonly strict?: boolean },
): Promise<ExitCode> {
  const { file, id, strict } = flags;
  const text = await readFileText(session, file);
  return await withDefinition(session, { file, text }, async () => {
    const { workflow, outcome, warnings } = await session.client.workflows.apply(text, {
      workflowId: id,
      strict,
      signal: session.interrupted,
    });
    const { workflowId, version } = workflow;
    printWarnings(session, file, warnings);
    const json = { workflowId, version, outcome, warnings: warnings.map(plainViolation) };
    print(session, json, () => [
      `${workflowId} version ${version} ${outcome}`,
      `Start it with \`${session.self} run start ${workflowId} --wait\`.`,
    ]);
    return EXIT.ok;
  });
}

/** Checks the file and saves nothing. Exit code 1 for a broken rule, and for a warning with --strict. */
async function validate(
  session: Session,
  flags: { readonly file: string; readonly strict?: boolean },
): Promise<ExitCode> {
  const text = await readFileText(session, flags.file);
  const { client, interrupted: signal } = session;
  const { violations, warnings } = await client.workflows.validate(text, { signal });
  const isStrict = flags.strict === true;
  const isValid = violations.length === 0 && !(isStrict && warnings.length > 0);
  const file = fileName(flags.file);
  printWarnings(session, flags.file, warnings);
  const json = {
    valid: isValid,
    violations: violations.map(plainViolation),
    warnings: warnings.map(plainViolation),
  };
  print(session, json, () => {
    if (isValid) return [`${file} is valid`];
    if (violations.length === 0) return [`${file} has warnings`];
    return [`${file} breaks ${rulesText(violations)}:`, ...placedLines(file, violations)];
  });
  return isValid ? EXIT.ok : EXIT.failed;
}

async function list(session: Session, flags: PageFlags): Promise<void> {
  const { limit: pageSize, pageToken } = flags;
  const { client, interrupted: signal, self } = session;
  const page = await client.workflows.list({ pageSize, pageToken, signal });
  const { workflows: items, nextPageToken } = page;
  printList(session, {
    items,
    json: { workflows: items.map(plainWorkflow), nextPageToken },
    none: `No workflows. Save one with \`${self} workflow apply -f FILE\`.`,
    heads: ["WORKFLOW", "VERSION", "NODES", "UPDATED", "TITLE"],
    rowOf: ({ workflowId, version, nodeCount, updateTime, title }) => [
      workflowId,
      String(version),
      String(nodeCount),
      updateTime === undefined
        ? ""
        : `${formatDuration(session.now() - timestampMs(updateTime))} ago`,
      title,
    ],
    next: [`${self} workflow list`, nextPageToken],
  });
}

/** One version of a workflow: its definition as JSON that can be edited and applied again. */
async function get(
  session: Session,
  id: string,
  { version }: { readonly version?: number },
): Promise<void> {
  const signal = session.interrupted;
  const workflow = await session.client.workflows.get(id, { version, signal });
  if (session.format === "json") return printJson(session, plainWorkflow(workflow));
  printNotes(session, [`${workflow.workflowId} version ${workflow.version}`]);
  printPretty(session, jsonOf(workflow.definitionJson));
}

async function remove(
  session: Session,
  workflowId: string,
  { force }: { readonly force?: boolean },
): Promise<void> {
  await session.client.workflows.delete(workflowId, { force, signal: session.interrupted });
  print(session, { workflowId, deleted: true }, () => [`${workflowId} deleted`]);
}
