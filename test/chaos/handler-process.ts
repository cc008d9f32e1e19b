// The handler processes of a chaos run: one for each executor. Each knows all executors, and goes to another one if its own does not answer.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { LOOPBACK } from "@pawl/deploy/ports.ts";

/** The node type that these processes serve. */
export const WORK = "chaos.work";
/** The variable with the address of the outside world. */
export const EFFECT_URL = "CHAOS_EFFECT_URL";

/** Started processes. */
type HandlerProcesses = { readonly logs: () => string; readonly stop: () => Promise<void> };

/** Starts one for each executor that takes handler processes at these ports. */
export function startHandlers(ports: readonly number[], effectUrl: string): HandlerProcesses {
  const addresses = ports.map((port) => `${LOOPBACK}:${port}`);
  let logs = "";
  const children = addresses.map((own): ChildProcess => {
    const all = [own, ...addresses.filter((address) => address !== own)];
    const env = { PAWL_HANDLER_ADDRESS: all.join(","), [EFFECT_URL]: effectUrl };
    const child = spawn(process.execPath, [join(import.meta.dirname, "handlers.ts")], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (text: Buffer) => (logs += text.toString()));
    return child;
  });
  return {
    logs: () => logs,
    stop: async () => {
      await Promise.all(
        children.map(async (child) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const exited = once(child, "exit");
          child.kill("SIGKILL");
          await exited;
        }),
      );
    },
  };
}
