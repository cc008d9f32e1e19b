// pawl workflow apply, validate, list, get.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { jsonOf, plainWorkflow } from "@pawl/client";
import { readFileText } from "../file-text.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { formatDuration } from "../render/duration.ts";
import { type Span, paintLine } from "../render/spans.ts";
import { tableLines } from "../render/table.ts";
import { placedLines, plainViolation } from "../render/violation.ts";
import { canvasOf, type Session, printJson, printLines } from "../session.ts";
import { fileName, printWarnings, withDefinition } from "./definition-faults.ts";

/** Makes the saved workflow be what the file says. */
export async function workflowApply(
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
    if (session.format === "json") {
      const told = warnings.map(plainViolation);
      printJson(session, { workflowId, version, outcome, warnings: told });
    } else {
      printLines(session, [
        `${workflowId} version ${version} ${outcome}`,
        `Start it with \`${session.self} run start ${workflowId} --wait\`.`,
      ]);
    }
    return EXIT.ok;
  });
}

/** Checks the file and saves nothing; exit code 1 when a rule is broken, or when there are warnings and they count. */
export async function workflowValidate(
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
  if (session.format === "json") {
    printJson(session, {
      valid: isValid,
      violations: violations.map(plainViolation),
      warnings: warnings.map(plainViolation),
    });
  } else if (isValid) printLines(session, [`${file} is valid`]);
  else if (violations.length === 0) printLines(session, [`${file} has warnings`]);
  else {
    const count = violations.length === 1 ? "1 rule" : `${violations.length} rules`;
    printLines(session, [`${file} breaks ${count}:`, ...placedLines(file, violations)]);
  }
  return isValid ? EXIT.ok : EXIT.failed;
}

/** A page of workflows. */
export async function workflowList(
  session: Session,
  flags: { readonly limit?: number; readonly pageToken?: string },
): Promise<ExitCode> {
  const { limit = 0, pageToken = "" } = flags;
  const { client, interrupted: signal } = session;
  const page = await client.workflows.list({ pageSize: limit, pageToken, signal });
  if (session.format === "json") {
    const { nextPageToken } = page;
    printJson(session, { workflows: page.workflows.map(plainWorkflow), nextPageToken });
    return EXIT.ok;
  }
  if (page.workflows.length === 0) {
    printLines(session, [
      `No workflows. Save one with \`${session.self} workflow apply -f FILE\`.`,
    ]);
    return EXIT.ok;
  }
  const rows = page.workflows.map((workflow): Span[] => [
    { text: workflow.workflowId },
    { text: String(workflow.version) },
    { text: String(workflow.nodeCount) },
    {
      text:
        workflow.updateTime === undefined
          ? ""
          : `${formatDuration(session.now() - timestampMs(workflow.updateTime))} ago`,
    },
    { text: workflow.title },
  ]);
  const heads = ["WORKFLOW", "VERSION", "NODES", "UPDATED", "TITLE"];
  printLines(session, tableLines(heads, rows, canvasOf(session)));
  if (page.nextPageToken !== "") {
    printLines(session, [`More: ${session.self} workflow list --page-token ${page.nextPageToken}`]);
  }
  return EXIT.ok;
}

/** One version of a workflow: its definition as JSON that can be edited and applied again. */
export async function workflowGet(
  session: Session,
  workflowId: string,
  flags: { readonly version?: number },
): Promise<ExitCode> {
  const workflow = await session.client.workflows.get(workflowId, {
    version: flags.version ?? 0,
    signal: session.interrupted,
  });
  if (session.format === "json") {
    printJson(session, plainWorkflow(workflow));
    return EXIT.ok;
  }
  const canvas = { width: Number.MAX_SAFE_INTEGER, hasColour: session.terminal.hasColour };
  session.terminal.writeError(`${workflow.workflowId} version ${workflow.version}\n`);
  const text = JSON.stringify(jsonOf(workflow.definitionJson), undefined, 2);
  printLines(
    session,
    text.split("\n").map((line) => paintLine([{ text: line }], canvas)),
  );
  return EXIT.ok;
}

/** Removes a workflow. */
export async function workflowDelete(
  session: Session,
  workflowId: string,
  flags: { readonly force?: boolean },
): Promise<ExitCode> {
  const force = flags.force ?? false;
  await session.client.workflows.delete(workflowId, { force, signal: session.interrupted });
  if (session.format === "json") printJson(session, { workflowId, deleted: true });
  else printLines(session, [`${workflowId} deleted`]);
  return EXIT.ok;
}
