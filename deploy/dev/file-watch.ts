// Calls back when a source file below a folder changes. Editors write a file in several steps, so a change counts once the folder has been
// quiet for a moment.
import { watch } from "node:fs";
import { sep } from "node:path";

const QUIET_MS = 120;
/** Folders and files that tools write while a program runs or starts. */
const IGNORED = /^(?:node_modules|__pycache__|dist|build|target|venv|.*\.pyc|.*~|.*\.log|\..*)$/;

/** Whether a change of this path, relative to the folder, is a change of the program. */
const isSource = (path: string): boolean => path.split(sep).every((part) => !IGNORED.test(part));

interface FileWatch extends Disposable {
  readonly folder: string;
}

/** Watches a folder with its folders. `onFault` gets the error that ends the watch, such as too many files. */
export function watchFiles(
  folder: string,
  onChange: (path: string) => void,
  onFault: (error: Error) => void,
): FileWatch {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, { recursive: true }, (_, name) => {
    if (name === null || !isSource(name)) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS, name);
  });
  watcher.on("error", onFault);
  return {
    folder,
    [Symbol.dispose]() {
      clearTimeout(timer);
      watcher.close();
    },
  };
}
