// Output: a log file for each service, and short lines for the person at the terminal.
import { createWriteStream, existsSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const LOG_BYTES_MAX = 10 * 1024 * 1024;

export type LogFile = { readonly path: string; readonly write: (text: string) => void };

/** Opens `<folder>/<name>.log` at its end. A large file is renamed to `.old.log` first. */
export function openLog(folder: string, name: string): LogFile {
  const path = join(folder, `${name}.log`);
  mkdirSync(dirname(path), { recursive: true });
  if (existsSync(path) && statSync(path).size > LOG_BYTES_MAX) {
    renameSync(path, join(folder, `${name}.old.log`));
  }
  const stream = createWriteStream(path, { flags: "a" });
  // A full disk must not end the services.
  stream.on("error", () => {});
  return { path, write: (text) => void stream.write(text) };
}

const startedAt = Date.now();

/** One line on the terminal, with the seconds since the start. */
export function say(text: string): void {
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1).padStart(5);
  process.stdout.write(`${seconds} s  ${text}\n`);
}
