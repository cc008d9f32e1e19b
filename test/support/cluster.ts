// The trio as real processes on free loopback ports against a database of its own.
// Everything waits on ready lines, nothing sleeps; processes are ended by pid, also when the test run is
// killed (see deploy/guard.ts). When the test that started the cluster fails, its logs are printed.
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import type { ServiceName } from "@pawl/deploy/service-process.ts";
import { onTestFailed } from "vitest";
import { startMember } from "./member.ts";
import type { Member } from "./member.ts";
import { freshDatabase } from "./postgres.ts";

type Env = Readonly<Record<string, string>>;

/** How many of each and with what configuration. */
export type ClusterOptions = {
  readonly schedulers?: number;
  readonly executors?: number;
  readonly gateways?: number;
  /** For every process. */
  readonly env?: Env;
  /** For the processes of one service. */
  readonly envOf?: Partial<Record<ServiceName, Env>>;
  /** An own database instead of a fresh one, e.g. of a private server. */
  readonly databaseUrl?: string;
  /** The checkout whose sources run; this one by default. */
  readonly root?: string | undefined;
};

/** A running cluster. */
export type Cluster = {
  readonly schedulers: readonly Member[];
  readonly executors: readonly Member[];
  readonly gateways: readonly Member[];
  /** The first gateway. */
  readonly url: string;
  readonly databaseUrl: string;
  logs(): string;
  /** Ends every process, then drops the database. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Whether every node passes through the queue in these tests, glue nodes too (`npm run test:queued`). */
export const IS_QUEUED = process.env["PAWL_HAND_OFF"] === "false";

/** A living executor keeps its claims on a busy machine; tests that wait for a lease to run out say how long one is. */
const QUICK: Env = {
  PAWL_LEASE_MS: "5000",
  PAWL_RENEW_MS: "500",
  PAWL_SWEEP_MS: "1000",
  PAWL_DRAIN_MS: "5000",
  PAWL_LOG_LEVEL: "debug",
  ...(IS_QUEUED ? { PAWL_HAND_OFF: "false" } : {}),
};

/** Starts schedulers first, then the others at once, which need one to be ready. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const own = options.databaseUrl === undefined ? await freshDatabase() : undefined;
  const databaseUrl = options.databaseUrl ?? own?.url ?? "";
  const members: Member[] = [];
  const stop = async (): Promise<void> => {
    // A stopped (SIGSTOP) process cannot drain.
    await Promise.all(members.map((member) => member.kill("SIGCONT")));
    await Promise.all(members.map((member) => member.stop()));
    await own?.drop();
  };
  const logs = (): string =>
    members.map((member) => `--- ${member.name}\n${member.logs()}`).join("\n");
  printOnFailure(logs);
  const group = (service: ServiceName, count: number, env: Env): Promise<Member[]> =>
    allOf(
      Array.from({ length: count }, async (_, index) => {
        const member = await startOne({
          service,
          index,
          root: options.root,
          env: { ...QUICK, ...env, ...options.env, ...options.envOf?.[service] },
        });
        members.push(member);
        return member;
      }),
    );
  const startAll = async () => {
    const DATABASE_URL = databaseUrl;
    const schedulers = await group("scheduler", options.schedulers ?? 1, { DATABASE_URL });
    const PAWL_SCHEDULER_ADDRESS = schedulers.map(({ port }) => `${LOOPBACK}:${port}`).join(",");
    const [executors = [], gateways = []] = await allOf([
      group("executor", options.executors ?? 1, { PAWL_SCHEDULER_ADDRESS }),
      group("gateway", options.gateways ?? 1, { PAWL_SCHEDULER_ADDRESS, DATABASE_URL }),
    ]);
    return { schedulers, executors, gateways };
  };
  const groups = await startAll().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const url = groups.gateways[0]?.url ?? "";
  return { ...groups, url, databaseUrl, logs, stop, [Symbol.asyncDispose]: stop };
}

/** Waits for every one, then gives all or throws the first error. So nothing still starts when the caller stops what has started. */
async function allOf<T>(starting: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(starting);
  return Promise.all(starting);
}

type MemberPlan = {
  readonly service: ServiceName;
  readonly index: number;
  readonly root: string | undefined;
  readonly env: Env;
};

async function startOne({ service, index, root, env }: MemberPlan): Promise<Member> {
  const port = await freePort();
  const probePort = service === "scheduler" ? await freePort() : port;
  const own: Record<ServiceName, Env> = {
    scheduler: { PAWL_SCHEDULER_PORT: String(port), PAWL_METRICS_PORT: String(probePort) },
    executor: {
      PAWL_METRICS_PORT: String(port),
      // An older checkout does not know it.
      ...(root === undefined ? { PAWL_HANDLER_PORT: "0" } : {}),
    },
    gateway: { PAWL_GATEWAY_PORT: String(port) },
  };
  return startMember({
    service,
    name: `${service}-${index + 1}`,
    port,
    probePort,
    root,
    env: { ...own[service], ...env },
  });
}

function printOnFailure(logs: () => string): void {
  try {
    onTestFailed(() => console.error(logs()));
  } catch {
    // Started in a hook, outside any test: the caller prints logs() itself.
  }
}
