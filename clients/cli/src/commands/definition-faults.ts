// The faults of a definition in a file: its warnings, and each broken rule with its line if the server refuses the definition.

import { PawlError, type Validation } from "@pawl/client";
import { EXIT, type ExitCode, printNotes, type Session } from "../session.ts";
import { safeText } from "../render/spans.ts";

/** The name of the file for people. */
export const fileName = (file: string): string => (file === "-" ? "(standard input)" : file);

/** "1 rule", "3 rules". */
export const rulesText = ({ length }: Validation["violations"]): string =>
  length === 1 ? "1 rule" : `${length} rules`;

type Violation = Validation["violations"][number];

/** Faults in the format of compilers, so that editors find the place: file:line:column, the id of the node, and the fault. */
export const placedLines = (
  file: string,
  violations: Validation["violations"],
): readonly string[] =>
  violations.map(({ path, reason, message, nodeId, line, column }) => {
    const place = line === 0 ? file : `${file}:${line}:${column}`;
    const node = nodeId === "" ? "" : ` node "${nodeId}"`;
    // The line has the id of the node, so its number in the list is left out.
    const inside = nodeId === "" ? path : path.replace(/^nodes\[\d+\]\.?/, "");
    const what = [inside, message].filter((part) => part !== "").join(": ");
    return safeText(`${place}${node}: ${what} [${reason}]`);
  });

/** A fault for scripts. */
export const plainViolation = ({ path, reason, message, nodeId, line, column }: Violation) => ({
  path,
  reason,
  message,
  nodeId,
  ...(line === 0 ? {} : { line, column }),
});

/** Warnings go to standard error, beside the result. */
export function printWarnings(
  session: Session,
  file: string,
  warnings: Validation["warnings"],
): void {
  const lines = placedLines(fileName(file), warnings);
  printNotes(
    session,
    lines.map((line) => `warning: ${line}`),
  );
}

/**
 * Runs `work` with a definition. If the server refuses it, this requests the lines of all faults and prints them, because an error has
 * paths only.
 */
export async function withDefinition(
  session: Session,
  { file, text }: { readonly file: string; readonly text: string },
  act: () => Promise<ExitCode>,
): Promise<ExitCode> {
  try {
    return await act();
  } catch (thrown) {
    if (!(thrown instanceof PawlError) || !REFUSED.has(thrown.reason)) throw thrown;
    const signal = session.interrupted;
    const { violations, warnings } = await session.client.workflows.validate(text, { signal });
    // With --strict the server also refuses warnings.
    const broken = violations.length > 0 ? violations : warnings;
    if (broken.length === 0) throw thrown;
    const head = `error: ${fileName(file)} breaks ${rulesText(broken)} (${thrown.reason})`;
    printNotes(session, [head, ...placedLines(fileName(file), broken), NOTHING]);
    return EXIT.failed;
  }
}

const REFUSED: ReadonlySet<string> = new Set(["DEFINITION_INVALID", "CYCLE_DETECTED"]);
const NOTHING = "Nothing was saved or started. Correct the definition and try again.";
