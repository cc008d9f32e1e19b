// A handler process of the fault test, with a relay of its own between it and the host. It starts again when it is killed.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { startRelay, type Relay } from "./relay.ts";

/** How to start a program that serves the handlers of the fault test. */
export type Program = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
};

export type HandlerProcess = {
  readonly name: string;
  /** The way to the host. */
  readonly relay: Relay;
  /** Kills it, and starts another one under the same name. */
  restart(): Promise<void>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  logs(): string;
  stop(): Promise<void>;
};

/** Starts a process that serves to the host at `port`. */
export async function startHandlerProcess(
  name: string,
  { command, args, env }: Program,
  port: number,
): Promise<HandlerProcess> {
  const relay = await startRelay(port);
  let logs = "";
  const start = (): ChildProcess => {
    const child = spawn(command, args, {
      env: { ...env, FAULT_PROCESS: name, PAWL_HANDLER_ADDRESS: `${LOOPBACK}:${relay.port}` },
      // The program ends when its stdin closes, so it never outlives this process.
      stdio: ["pipe", "pipe", "pipe"],
    });
    child.stdin?.on("error", () => undefined);
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => (logs += chunk.toString()));
    return child;
  };
  let child = start();
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return {
    name,
    relay,
    restart: async () => {
      await kill();
      child = start();
    },
    signal: (signal) => void child.kill(signal),
    logs: () => logs,
    stop: async () => {
      await kill();
      await relay.stop();
    },
  };
}
