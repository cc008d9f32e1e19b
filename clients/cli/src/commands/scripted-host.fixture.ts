// The command line against a scripted gateway: what it prints, on a terminal of some width or without one.

import { createPawlClient } from "@pawl/client";
import { type Script, ScriptedGateway } from "@pawl/client/scripted-gateway";
import { runProgram } from "../program.ts";

interface Screen {
  /** Columns of the terminal; without them there is none. */
  readonly columns?: number;
  readonly files?: Readonly<Record<string, string>>;
  /** Called after each piece of a long output. */
  readonly drain?: () => Promise<void>;
}

/** Starts the gateway; stop it at the end of the test. */
export async function setup(
  script: Script,
  { columns, files, drain = async () => undefined }: Screen = {},
) {
  const gateway = new ScriptedGateway(script);
  const printed = { out: "", error: "" };
  const host = {
    terminal: {
      write: (text: string) => void (printed.out += text),
      writeError: (text: string) => void (printed.error += text),
      drain,
      isTty: columns !== undefined,
      hasColour: false,
      width: () => columns ?? 100,
      height: () => 30,
    },
    version: "1.2.3",
    defaultAddress: await gateway.start(),
    self: "pawl",
    connect: (baseUrl: string) => createPawlClient({ baseUrl, attempts: 1 }),
    readText: async (path: string) => files?.[path] ?? "",
    runTool: async () => 0,
    now: () => 0,
    interrupted: new AbortController().signal,
  };
  return { gateway, printed, pawl: (...args: string[]) => runProgram(host, args) };
}
