// The processes of a chaos run: a PostgreSQL of its own, two of each service as direct children, and a proxy on every link between them.
// Each can be killed, frozen, cut off or started again at any moment.
import { randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPawlClient, type PawlClient } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import type { ServiceName } from "@pawl/deploy/service-process.ts";
import { SINK_EGRESS } from "../flow/sink.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startMember, type Member } from "../support/member.ts";
import { steppedClock, type SteppedClock } from "../support/stepped-clock.ts";
import { startPrivatePostgres, type PrivatePostgres } from "../support/postgres.ts";
import { seededRandom } from "../stress/random.ts";
import { PHRASE } from "../stress/shape.ts";
import { startEffects, type Effects } from "./effects.ts";
import { startHandlers } from "./handler-process.ts";
import { startProxy, type Proxy } from "./proxy.ts";

/** Leases short enough for a zombie to be found while we watch. */
export const LEASE_MS = 3_000;
const TIMING = {
  PAWL_LEASE_MS: String(LEASE_MS),
  PAWL_RENEW_MS: "1000",
  PAWL_SWEEP_MS: "1000",
  PAWL_POLL_MS: "1000",
  PAWL_DRAIN_MS: "10000",
  PAWL_LOG_LEVEL: "info",
} as const;
/** The name of the link that leads to the database. */
export const DATABASE_LINK = "all-postgres";
/** An outage lasts as long as a start takes on a busy machine. */
const CLIENT = { attempts: 60, timeoutMs: 8_000 } as const;

/** A service of the cluster. */
export type ChaosMember = Member & {
  readonly service: ServiceName;
  /** Of an executor; empty otherwise. */
  readonly executorId: string;
  /** Its wall clock. */
  readonly clock: SteppedClock;
};

/** A running cluster. */
export type ChaosCluster = {
  readonly postgres: PrivatePostgres;
  /** Past every proxy. */
  readonly databaseUrl: string;
  readonly schedulers: readonly ChaosMember[];
  readonly executors: readonly ChaosMember[];
  readonly gateways: readonly ChaosMember[];
  readonly all: readonly ChaosMember[];
  /** One a gateway. */
  readonly clients: readonly PawlClient[];
  readonly links: readonly Proxy[];
  readonly effects: Effects;
  logs(): string;
  stop(): Promise<void>;
};

type Env = Readonly<Record<string, string>>;
type Link = (name: string, port: number) => Promise<number>;

/** Starts two of each. */
export async function startChaosCluster(seed: number): Promise<ChaosCluster> {
  const folder = temporaryFolder("chaos");
  const rules = join(folder, "rules.yaml");
  writeFileSync(rules, `rules: [{ id: fruit, category: food, literal: ${PHRASE} }]`);
  const postgres = await startPrivatePostgres();
  const effects = await startEffects(seededRandom(seed));
  const links: Proxy[] = [];
  const link: Link = async (name, port) => {
    const random = seededRandom(seed + links.length);
    const proxy = await startProxy(name, port, { random, isPostgres: name === DATABASE_LINK });
    links.push(proxy);
    return proxy.port;
  };
  const url = new URL(postgres.url);
  url.port = String(await link(DATABASE_LINK, Number(url.port)));
  const DATABASE_URL = url.href;
  const schedulers = await Promise.all([1, 2].map((nth) => startScheduler(nth, { DATABASE_URL })));
  const addresses = async (name: string): Promise<string> => {
    const ports = await Promise.all(schedulers.map(({ port }) => link(name, port)));
    return ports.map((port) => `${LOOPBACK}:${port}`).join(",");
  };
  const work = {
    PAWL_SCHEDULER_ADDRESS: await addresses("scheduler-executor"),
    PAWL_MODERATION_RULES: rules,
    ...SINK_EGRESS,
  };
  const handlerPorts = await Promise.all([freePort(), freePort()]);
  const executors = await Promise.all(
    handlerPorts.map((port, index) =>
      startExecutor(index + 1, { ...work, PAWL_HANDLER_PORT: String(port) }),
    ),
  );
  const handlers = startHandlers(handlerPorts, effects.url);
  const edge = { DATABASE_URL, PAWL_SCHEDULER_ADDRESS: await addresses("gateway-scheduler") };
  const gateways = await Promise.all([1, 2].map((nth) => startGateway(nth, edge)));
  const clients = await Promise.all(
    gateways.map(async ({ port }) =>
      createPawlClient({
        baseUrl: `http://${LOOPBACK}:${await link("client-gateway", port)}`,
        ...CLIENT,
      }),
    ),
  );
  const all = [...schedulers, ...executors, ...gateways];
  return {
    postgres,
    databaseUrl: postgres.url,
    schedulers,
    executors,
    gateways,
    all,
    clients,
    links,
    effects,
    logs: () => logsOf([...all, { name: "handlers", logs: handlers.logs }]),
    stop: async () => {
      for (const proxy of links) proxy.heal(false);
      // A stopped process cannot drain.
      await Promise.all(all.map((member) => member.kill("SIGCONT")));
      await handlers.stop();
      await Promise.all(all.map((member) => member.stop()));
      await Promise.all(links.map((proxy) => proxy.stop()));
      await effects.stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const logsOf = (all: readonly Pick<ChaosMember, "name" | "logs">[]): string =>
  all.map(({ name, logs }) => `--- ${name}\n${logs()}`).join("\n");

const startScheduler = async (nth: number, env: Env): Promise<ChaosMember> => {
  const port = await freePort();
  const own = {
    PAWL_SCHEDULER_PORT: String(port),
    PAWL_METRICS_PORT: String(await freePort()),
  };
  return await enlist("scheduler", { nth, port, env: { ...TIMING, ...own, ...env } });
};

const startExecutor = async (nth: number, env: Env): Promise<ChaosMember> => {
  const port = await freePort();
  const executorId = randomUUID();
  const own = {
    PAWL_METRICS_PORT: String(port),
    PAWL_EXECUTOR_ID: executorId,
  };
  const { PAWL_DRAIN_MS, PAWL_LOG_LEVEL } = TIMING;
  const all = { PAWL_DRAIN_MS, PAWL_LOG_LEVEL, ...own, ...env };
  return await enlist("executor", { nth, port, env: all, executorId });
};

const startGateway = async (nth: number, env: Env): Promise<ChaosMember> => {
  const port = await freePort();
  const own = { PAWL_GATEWAY_PORT: String(port), PAWL_LOG_LEVEL: TIMING.PAWL_LOG_LEVEL };
  return await enlist("gateway", { nth, port, env: { ...own, ...env } });
};

async function enlist(
  service: ServiceName,
  options: {
    readonly nth: number;
    readonly port: number;
    readonly env: Env;
    readonly executorId?: string;
  },
): Promise<ChaosMember> {
  const { nth, port, env, executorId = "" } = options;
  const clock = steppedClock();
  const name = `${service}-${nth}`;
  const member = await startMember({ service, name, port, env: { ...env, ...clock.env } });
  return Object.defineProperties(member, {
    service: { value: service },
    executorId: { value: executorId },
    clock: { value: clock },
  }) as ChaosMember;
}
