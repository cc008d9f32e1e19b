// The promises of every store about definitions and their versions.

import { randomUUID } from "node:crypto";
import { definitionId } from "@pawl/core/name/ids";
import type { NewDefinition, SaveResult } from "@pawl/platform/store/workflows/workflows";
import { describe, expect, test } from "vitest";
import { begin, queued, step } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

/** A workflow as it is written. */
export const draft = (over: Partial<NewDefinition> = {}): NewDefinition => ({
  definitionId: definitionId(randomUUID()),
  tenantId: "acme",
  workflowId: "orders",
  digest: "digest-1",
  title: "Orders",
  nodeCount: 3,
  body: '{"id":"orders"}',
  requestId: null,
  requestHash: null,
  ...over,
});

const versionOf = (result: SaveResult): number | string =>
  result.kind === "saved" ? result.row.version : result.kind;

/** All promises about workflows on one kind of store. */
export function workflowsSuite(name: string, open: OpenStore): void {
  describe(`workflows on ${name}`, () => {
    creation(open);
    updates(open);
    requests(open);
    removal(open);
  });
}

function creation(open: OpenStore): void {
  test("a new workflow is version 1 and reads back as it was written", async () => {
    const { workflows } = await setup(open);
    const first = draft();
    const result = await workflows.create(first);
    const { definitionId: id, workflowId, digest, title, nodeCount, body } = first;
    const row = { definitionId: id, workflowId, digest, title, nodeCount, body, version: 1 };
    expect(result).toMatchObject({ kind: "saved", row });
    expect(await workflows.load(id)).toMatchObject(row);
    expect(await workflows.find("acme", "orders", 0)).toMatchObject(row);
    expect(await workflows.find("acme", "orders", 1)).toMatchObject(row);
    expect(await workflows.find("acme", "orders", 2)).toBeUndefined();
  });

  test("a workflow's id is taken once in its tenant", async () => {
    const { workflows } = await setup(open);
    await workflows.create(draft());
    expect(await workflows.create(draft({ digest: "digest-2" }))).toEqual({ kind: "exists" });
    expect(versionOf(await workflows.create(draft({ tenantId: "other" })))).toBe(1);
    expect(await workflows.find("nobody", "orders", 0)).toBeUndefined();
  });

  test("of many creators of one workflow at once exactly one succeeds", async () => {
    const { workflows } = await setup(open);
    const results = await Promise.all([1, 2, 3, 4].map(() => workflows.create(draft())));
    const kinds = results.map((result) => result.kind);
    expect(kinds.toSorted()).toEqual(["exists", "exists", "exists", "saved"]);
  });
}

function updates(open: OpenStore): void {
  test("an update is the next version, and the versions before it stay as they were", async () => {
    const { workflows } = await setup(open);
    await workflows.create(draft());
    const result = await workflows.update(draft({ digest: "digest-2", body: "{}" }), 1);
    expect(versionOf(result)).toBe(2);
    expect(await workflows.find("acme", "orders", 0)).toMatchObject({ version: 2, body: "{}" });
    expect(await workflows.find("acme", "orders", 1)).toMatchObject({
      version: 1,
      body: '{"id":"orders"}',
    });
  });

  test("an update without a change keeps the version", async () => {
    const { workflows } = await setup(open);
    const first = draft();
    await workflows.create(first);
    const result = await workflows.update(draft(), 0);
    expect(result).toMatchObject({ row: { version: 1, definitionId: first.definitionId } });
  });

  test("an update of another version than expected is refused, and so is one of nothing", async () => {
    const { workflows } = await setup(open);
    expect(await workflows.update(draft(), 0)).toEqual({ kind: "missing" });
    await workflows.create(draft());
    await workflows.update(draft({ digest: "digest-2" }), 0);
    expect(await workflows.update(draft({ digest: "digest-3" }), 1)).toEqual({
      kind: "version_mismatch",
      currentVersion: 2,
    });
    expect(await workflows.find("acme", "orders", 0)).toMatchObject({ version: 2 });
  });

  test("updates at once get versions without a gap, and expectations admit one of them", async () => {
    const { workflows } = await setup(open);
    await workflows.create(draft());
    const digests = ["a", "b", "c", "d"];
    const free = await Promise.all(digests.map((digest) => workflows.update(draft({ digest }), 0)));
    expect(new Set(free.map(versionOf))).toEqual(new Set([2, 3, 4, 5]));
    const bound = await Promise.all(
      digests.map((digest) => workflows.update(draft({ digest: `${digest}${digest}` }), 5)),
    );
    expect(bound.filter((result) => result.kind === "saved").map(versionOf)).toEqual([6]);
  });
}

function requests(open: OpenStore): void {
  test("a request that is sent again gets the first answer, whatever happened since", async () => {
    const { workflows } = await setup(open);
    const first = draft({ requestId: "r-1", requestHash: "h" });
    const change = draft({ digest: "digest-2", requestId: "r-2", requestHash: "h" });
    await workflows.create(first);
    await workflows.update(change, 1);
    const again = { definitionId: definitionId(randomUUID()) };
    expect(await workflows.create({ ...first, ...again })).toMatchObject({
      row: { version: 1, definitionId: first.definitionId },
    });
    expect(await workflows.update({ ...change, ...again }, 1)).toMatchObject({
      row: { version: 2, definitionId: change.definitionId },
    });
  });

  test("a request id with another request behind it is refused", async () => {
    const { workflows } = await setup(open);
    const reused = { kind: "request_reused" };
    await workflows.create(draft({ requestId: "r-1", requestHash: "h" }));
    const other = draft({ workflowId: "other", requestId: "r-1", requestHash: "x" });
    expect(await workflows.create(other)).toEqual(reused);
    expect(await workflows.update({ ...other, workflowId: "orders" }, 0)).toEqual(reused);
    expect(await workflows.find("acme", "other", 0)).toBeUndefined();
  });

  test("one request sent many times at once is carried out once", async () => {
    const { workflows } = await setup(open);
    const request = { requestId: "r-1", requestHash: "h" };
    const created = await Promise.all([1, 2, 3].map(() => workflows.create(draft(request))));
    expect(created.map(versionOf)).toEqual([1, 1, 1]);
    const change = { digest: "digest-2", requestId: "r-2", requestHash: "h" };
    const updated = await Promise.all([1, 2, 3].map(() => workflows.update(draft(change), 0)));
    expect(updated.map(versionOf)).toEqual([2, 2, 2]);
  });
}

const PAUSER = { by: "ada", reason: "a bad model" };

function removal(open: OpenStore): void {
  test("a removed workflow is gone, and its definitions stay for the runs that use them", async () => {
    const { workflows } = await setup(open);
    const first = draft();
    await workflows.create(first);
    expect(await workflows.remove("acme", "orders", false)).toBe("removed");
    expect(await workflows.find("acme", "orders", 0)).toBeUndefined();
    expect(await workflows.find("acme", "orders", 1)).toBeUndefined();
    expect(await workflows.load(first.definitionId)).toMatchObject({ version: 1 });
    expect(await workflows.remove("acme", "orders", false)).toBe("missing");
  });

  test("a workflow with a live run is removed by force only", async () => {
    const { workflows, journal } = await setup(open);
    await workflows.create(draft());
    const run = await begin(journal);
    expect(await workflows.remove("acme", "orders", false)).toEqual({ liveRuns: 1 });
    expect(await workflows.remove("acme", "orders", true)).toBe("removed");
    await workflows.create(draft());
    await step(journal, run, 1, { facts: [queued()], over: { status: "completed", ended: true } });
    expect(await workflows.remove("acme", "orders", false)).toBe("removed");
  });

  test("a removed workflow takes its pause with it, unless that still holds runs", async () => {
    const { workflows, journal, pauses } = await setup(open);
    const held = async () => (await pauses.read()).pauses.map(({ name }) => name);
    const key = { scope: "workflow", tenantId: "acme", name: "orders" } as const;
    await pauses.pause({ scope: "queue", tenantId: "acme", name: "orders" }, PAUSER);
    await workflows.create(draft());
    const run = await begin(journal, { status: "paused" });
    const { epoch } = await pauses.pause(key, PAUSER);
    expect(await workflows.remove("acme", "orders", true)).toBe("removed");
    expect(await held()).toEqual(["orders", "orders"]);
    await step(journal, run, 1, { facts: [queued()], over: { status: "cancelled", ended: true } });
    await workflows.create(draft());
    expect(await workflows.remove("acme", "orders", false)).toBe("removed");
    expect((await pauses.read()).pauses).toMatchObject([{ scope: "queue", name: "orders" }]);
    // The epoch changed, so a scheduler that decided by the pauses before decides again.
    expect((await pauses.read()).epoch).toBe(epoch + 1);
    await workflows.create(draft());
    expect(await workflows.remove("acme", "orders", false)).toBe("removed");
    expect((await pauses.read()).epoch).toBe(epoch + 1);
  });

  test("a workflow that takes a removed one's id continues its version numbers", async () => {
    const { workflows } = await setup(open);
    await workflows.create(draft());
    await workflows.remove("acme", "orders", false);
    expect(versionOf(await workflows.create(draft()))).toBe(2);
  });
}
