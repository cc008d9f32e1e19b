// What a command says about the definition in a file: its warnings, and every broken rule at its line where the server refused it.

import { PawlError, type Validation } from "@pawl/client";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { placedLines } from "../render/violation.ts";
import type { Session } from "../session.ts";

/** The file as people know it. */
export const fileName = (file: string): string => (file === "-" ? "(standard input)" : file);

/** Warnings go to standard error: the result stays what it is. */
export function printWarnings(
  session: Session,
  file: string,
  warnings: Validation["warnings"],
): void {
  for (const line of placedLines(fileName(file), warnings))
    session.terminal.writeError(`warning: ${line}\n`);
}

/**
 * Does something with a definition. Where the server refuses it, asks for the places of all that is wrong and prints them; an error
 * carries paths only.
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
    // With --strict it is warnings that were refused.
    const broken = violations.length > 0 ? violations : warnings;
    if (broken.length === 0) throw thrown;
    const count = broken.length === 1 ? "1 rule" : `${broken.length} rules`;
    const head = `error: ${fileName(file)} breaks ${count} (${thrown.reason})`;
    const lines = [head, ...placedLines(fileName(file), broken), NOTHING];
    session.terminal.writeError(lines.map((line) => `${line}\n`).join(""));
    return EXIT.failed;
  }
}

const REFUSED: ReadonlySet<string> = new Set(["DEFINITION_INVALID", "CYCLE_DETECTED"]);
const NOTHING = "Nothing was saved or started. Mend the definition and try again.";
