// One process of a test cluster. A test can kill it, restart it on the same port, and read its output.
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { startService } from "@pawl/deploy/service-process.ts";
import type { ServiceName, ServiceProcess } from "@pawl/deploy/service-process.ts";
import { mainOf } from "./bundle.ts";

const START_TIMEOUT_MS = 60_000;

/** What executors of tests present to serve built-in node types. */
export const EXECUTOR_TOKEN = "a-token-of-the-tests";

/** A started process of a cluster. */
export type Member = {
  readonly name: string;
  /** Of the process that runs now, or ran last. */
  readonly pid: number;
  readonly port: number;
  /** Of /readyz and /metrics. */
  readonly probePort: number;
  readonly url: string;
  /** Sends a signal and, if it ends a process for sure (SIGKILL), waits until it is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Settles with how the present process ended. */
  exited(): Promise<string>;
  /** Starts a new process on the same port, with more in its environment if given; ends the old one first if it still runs. */
  restart(more?: Readonly<Record<string, string>>): Promise<void>;
  /** Drains and ends the process. */
  stop(): Promise<void>;
  /** Everything printed so far, by all processes of this member. */
  logs(): string;
};

/** What to start. */
type MemberOptions = {
  readonly service: ServiceName;
  readonly name: string;
  readonly port: number;
  /** Where it serves its probes, if not on its port. */
  readonly probePort?: number;
  readonly env: Readonly<Record<string, string>>;
  /** The checkout whose sources run; this one by default. */
  readonly root?: string | undefined;
};

/** Starts a service and waits for its ready line. */
export async function startMember({
  service,
  name,
  port,
  probePort = port,
  env,
  root,
}: MemberOptions): Promise<Member> {
  let logs = "";
  const main = root === undefined ? mainOf(service) : undefined;
  const log = (text: string): void => void (logs += text);
  const start = (more: Readonly<Record<string, string>>): Promise<ServiceProcess> =>
    startService(
      { service, root, main, env: { PAWL_EXECUTOR_TOKEN: EXECUTOR_TOKEN, ...env, ...more }, log },
      AbortSignal.timeout(START_TIMEOUT_MS),
    ).catch((error) => {
      throw new Error(`${name} did not start:\n${logs}`, { cause: error });
    });
  let process = await start({});
  return {
    name,
    get pid() {
      return process.pid;
    },
    port,
    probePort,
    url: `http://${LOOPBACK}:${port}`,
    async kill(signal) {
      process.kill(signal);
      if (signal === "SIGKILL") await process.exited;
    },
    exited: () => process.exited,
    async restart(more = {}) {
      process.kill("SIGKILL");
      await process.exited;
      process = await start(more);
    },
    stop: () => process.stop(),
    logs: () => logs,
  };
}
