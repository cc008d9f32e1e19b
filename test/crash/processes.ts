// Processes that crash tests add to a cluster by hand: each with its own identity, failpoints and fate.
import { randomUUID } from "node:crypto";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { onTestFailed, onTestFinished } from "vitest";
import { SINK_EGRESS } from "../flow/sink.ts";
import type { Cluster } from "../support/cluster.ts";
import { startMember, type Member } from "../support/member.ts";

type Env = Readonly<Record<string, string>>;

/** An executor with its id, so that a test can find its claims. */
export type Executor = Member & { readonly executorId: string };

/** What strikes where, such as "handler.before-run=kill"; read once when the process starts. */
export const failpoints = (text: string): Env => ({ PAWL_TEST: "1", PAWL_FAILPOINTS: text });

/** Starts an executor of this cluster; it ends with the test. */
export async function startExecutor(cluster: Cluster, env: Env = {}): Promise<Executor> {
  const port = await freePort();
  const executorId = randomUUID();
  const member = await startMember({
    service: "executor",
    name: `executor ${executorId}`,
    port,
    env: {
      PAWL_SCHEDULER_ADDRESS: cluster.schedulers
        .map((scheduler) => `${LOOPBACK}:${scheduler.port}`)
        .join(","),
      PAWL_METRICS_PORT: String(port),
      PAWL_HANDLER_PORT: "0",
      PAWL_EXECUTOR_ID: executorId,
      PAWL_LOG_LEVEL: "debug",
      ...SINK_EGRESS,
      ...env,
    },
  });
  return Object.assign(endWithTest(member), { executorId });
}

/** Starts a scheduler in place of the cluster's first one, which must be gone. */
export async function replaceScheduler(cluster: Cluster, env: Env = {}): Promise<Member> {
  const port = cluster.schedulers[0]?.port ?? 0;
  const member = await startMember({
    service: "scheduler",
    name: "scheduler again",
    port,
    env: {
      DATABASE_URL: cluster.databaseUrl,
      PAWL_SCHEDULER_PORT: String(port),
      PAWL_METRICS_PORT: String(await freePort()),
      PAWL_LEASE_MS: "5000",
      PAWL_RENEW_MS: "500",
      PAWL_SWEEP_MS: "300",
      PAWL_LOG_LEVEL: "debug",
      ...env,
    },
  });
  return endWithTest(member);
}

function endWithTest<M extends Member>(member: M): M {
  onTestFailed(() => console.error(`--- ${member.name}\n${member.logs()}`));
  onTestFinished(async () => {
    // A stopped process cannot drain.
    await member.kill("SIGCONT");
    await member.stop();
  });
  return member;
}
