// The promises of a store about the catalogue of node types, and about what people see of executors.

import { randomUUID } from "node:crypto";
import type { NewNodeType } from "@pawl/platform/store/node-types/node-types";
import { describe, expect, test } from "vitest";
import { HOUR_MS, newExecutorId } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

const entry = (nodeType: string, revision: number, inputSchema = "{}"): NewNodeType => ({
  nodeType,
  description: "prices an order",
  inputSchema,
  outputSchema: "",
  configSchema: '{"type": "object"}',
  external: revision > 1,
  earlier: "",
  revision,
});

/** All promises on one kind of store. */
export function nodeTypesSuite(name: string, open: OpenStore): void {
  describe(`node types on ${name}`, () => {
    test("an entry is kept to the letter and found by its name", async () => {
      const { nodeTypes } = await setup(open);
      expect(await nodeTypes.save([entry("b", 1), entry("a", 1)])).toEqual(new Set(["a", "b"]));
      const found = await nodeTypes.find(["b", "none", "a"]);
      expect(found).toMatchObject([entry("a", 1), entry("b", 1)]);
      expect(found[0]?.updatedAt).toBeGreaterThan(0);
      expect(await nodeTypes.find([])).toEqual([]);
      expect(await nodeTypes.save([])).toEqual(new Set());
    });

    test("an entry follows the revision in the store, and another writer's entry is not overwritten", async () => {
      const { nodeTypes } = await setup(open);
      await nodeTypes.save([entry("a", 1)]);
      expect(await nodeTypes.save([entry("a", 1, "true"), entry("b", 1)])).toEqual(new Set(["b"]));
      expect(await nodeTypes.save([entry("a", 2, "true")])).toEqual(new Set(["a"]));
      expect(await nodeTypes.save([entry("a", 2, "false")])).toEqual(new Set());
      expect(await nodeTypes.find(["a"])).toMatchObject([entry("a", 2, "true")]);
    });

    test("of writers of one revision, one wins", async () => {
      const { nodeTypes } = await setup(open);
      const saved = await Promise.all(
        ["1", "2", "3"].map((text) => nodeTypes.save([entry("a", 1, text)])),
      );
      expect(saved.filter((types) => types.has("a"))).toHaveLength(1);
    });

    test("a type is served by others only while they are alive and connected", async () => {
      const { executors } = await setup(open);
      const hello = (leaseMs: number) => ({
        executorId: newExecutorId(),
        sessionId: randomUUID(),
        instanceId: null,
        schedulerId: null,
        nodeTypes: ["a", "b"],
        slots: 1,
        description: "",
        leaseMs,
      });
      const [self, other, dead] = [hello(HOUR_MS), hello(HOUR_MS), hello(0)];
      for (const each of [self, other, dead]) await executors.register(each);
      const served = () => executors.servedByOthers(self.executorId, ["a", "c"]);
      expect(await served()).toEqual(new Set(["a"]));
      expect(await executors.servedByOthers(other.executorId, ["a"])).toEqual(new Set(["a"]));
      await executors.expireSoon(other, HOUR_MS);
      expect(await served()).toEqual(new Set());
    });
  });
}
