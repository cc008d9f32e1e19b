// A temporary folder that another account may enter: if a test runs as root, PostgreSQL runs under an account without rights.
import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes a new folder under the system's temporary one. */
export function temporaryFolder(purpose: string): string {
  const folder = mkdtempSync(join(tmpdir(), `pawl-${purpose}-`));
  chmodSync(folder, 0o755);
  return folder;
}
