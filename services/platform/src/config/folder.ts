// Whether a path that a setting names can be a directory of this process.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import type { VariableFault } from "./env.ts";

/** Faults of a directory. A path that does not exist is none. */
export function faultsOfFolder(variable: string, path: string): readonly VariableFault[] {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory())
    return [{ variable, expected: "expected a directory, but this path is a file" }];
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return [];
  } catch {
    return [{ variable, expected: "expected a directory that this user may read and write" }];
  }
}
