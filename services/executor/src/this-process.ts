// What people read about a process in TypeScript that runs handlers: in `pawl executor list` and in explain. `serve` and `startExecutor`
// send the same.

import { basename } from "node:path";

/** The name and the version of the package that users install. */
const SDK = "@pawl/handler 0.1.0";

export interface ProcessOptions {
  /** The name of the process for people; default PAWL_HANDLER_NAME, then the name of the program file. */
  readonly name?: string;
  /** The build of the program, such as a git commit; default PAWL_HANDLER_BUILD. */
  readonly build?: string;
}

/** Describes the process that calls this. */
export function thisProcess({ name, build }: ProcessOptions) {
  const { argv, env, versions } = process;
  return {
    name: name ?? env["PAWL_HANDLER_NAME"] ?? basename(argv[1] ?? "node"),
    build: build ?? env["PAWL_HANDLER_BUILD"] ?? "",
    sdk: SDK,
    language: `node ${versions.node}`,
  };
}
