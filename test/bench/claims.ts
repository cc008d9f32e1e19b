// A thousand claims at once, held by an executor that does nothing else. Measures the cost of a claim and the cost of keeping claims alive.

import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import {
  type Claim,
  WorkRequestSchema,
  WorkerService,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { until } from "../support/until.ts";
import { RENEW_MS, type Stack } from "./stack.ts";
import type { BenchParts } from "./throughput.ts";

const CLAIMS = 1_000;
const NODE_TYPE = "bench-claim";
const WORKFLOW = "claims";
const INTERVALS = 2;
/** Statements that keep claims alive. */
const RENEWALS = `
select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements
where query ~* '^\\s*update' and query ~* '\\m(executors|leases)\\M'`;
const TOTAL_MS =
  "select coalesce(sum(total_exec_time), 0)::float8 as calls from pg_stat_statements";

type Item = NonNullable<MessageInitShape<typeof WorkRequestSchema>["items"]>[number];

export async function claims({ stack, report }: BenchParts): Promise<void> {
  await stack.db.query("create extension if not exists pg_stat_statements");
  await stack.client.apply(WORKFLOW, {
    nodes: [
      { id: "start", type: "start" },
      { id: "held", type: NODE_TYPE },
    ],
    edges: [{ source: "start", target: "held" }],
  });
  const holder = await startHolder(stack.schedulerAddress);
  const bench = "claims";
  const busyBefore = await ask(stack, TOTAL_MS);
  const began = performance.now();
  const runIds = await Promise.all(
    Array.from({ length: CLAIMS }, () => stack.client.start(WORKFLOW)),
  );
  await until(() => holder.held() === CLAIMS, { what: "every claim", timeoutMs: 120_000 });
  const claimed = performance.now() - began;
  const busy = (await ask(stack, TOTAL_MS)) - busyBefore;
  report.add({ bench, metric: "a run accepted and claimed", value: claimed / CLAIMS, unit: "ms" });
  report.add({ bench, metric: "of it in PostgreSQL", value: busy / CLAIMS, unit: "ms" });
  const before = await ask(stack, RENEWALS);
  await wait(INTERVALS * RENEW_MS);
  // Two executors renew here: the holder, and the stack's own.
  const renewals = ((await ask(stack, RENEWALS)) - before) / INTERVALS;
  report.add({
    bench,
    metric: `UPDATEs a renewal interval, ${CLAIMS} claims`,
    value: renewals,
    unit: "statements",
    floor: "≤ 1",
    reached: renewals <= 1,
  });
  const settling = performance.now();
  holder.settle();
  await Promise.all(runIds.map((runId) => stack.client.finish(runId)));
  const settled = performance.now() - settling;
  report.add({
    bench,
    metric: "a claim settled, its run ended",
    value: settled / CLAIMS,
    unit: "ms",
  });
  await holder.leave();
}

async function ask({ db }: Stack, text: string): Promise<number> {
  return (await db.query<{ calls: number }>(text)).rows[0]?.calls ?? 0;
}

/** An executor that takes every assignment and reports no outcome until the bench asks for it. */
async function startHolder(address: string) {
  const client = createGrpcClient(WorkerService, address);
  const stream = client.open.work();
  const { promise: registered, resolve } = Promise.withResolvers<void>();
  const held: Claim[] = [];
  stream.listen({
    message: ({ items }) => {
      for (const { item } of items) {
        if (item.case === "registered") resolve();
        if (item.case === "assignment" && item.value.claim !== undefined)
          held.push(item.value.claim);
      }
    },
  });
  const say = (...items: readonly Item[]): void =>
    void stream.write(create(WorkRequestSchema, { items: [...items] }));
  const value = { executorId: randomUUID(), nodeTypes: [NODE_TYPE], slots: CLAIMS };
  say({ item: { case: "register", value } });
  await registered;
  const renewing = setInterval(
    () => say({ item: { case: "renew", value: { held: [...held] } } }),
    RENEW_MS,
  );
  const outputJson = Buffer.from("{}");
  return {
    held: () => held.length,
    settle: () => {
      for (const claim of held.splice(0)) {
        const result = { case: "completed" as const, value: { outputJson } };
        say({ item: { case: "outcome", value: { claim, durationMs: 1n, result } } });
      }
    },
    leave: async () => {
      clearInterval(renewing);
      say({ item: { case: "goodbye", value: {} } });
      stream.end();
      await stream.closed;
      client.close();
    },
  };
}
