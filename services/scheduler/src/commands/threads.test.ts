import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { expect, test } from "vitest";
import { createThread, forkThread, type ThreadCommandParts } from "./threads.ts";

const KEY = { tenantId: "acme", threadId: "chat" };
const NEW = { threadId: "chat", metadata: undefined, assistantId: "", requestId: null };

/** Commands on a memory store, without a loop. */
function setup(): ThreadCommandParts & ReturnType<typeof createMemoryStore> {
  const store = createMemoryStore();
  return { ...store, now: Date.now } as never;
}

test("a fork whose assistant is deleted meanwhile is refused by name (S4.22, S4.23)", async () => {
  const parts = setup();
  await createThread(parts, KEY.tenantId, NEW);
  const foreignKey = Object.assign(new Error("a row names another one"), { code: "23503" });
  const threads = { ...parts.threads, create: () => Promise.reject(foreignKey) };
  const asked = { ...KEY, at: undefined, newThreadId: "", metadata: undefined, requestId: null };
  await expect(forkThread({ ...parts, threads }, KEY.tenantId, asked)).rejects.toMatchObject({
    reason: "ASSISTANT_NOT_FOUND",
  });
});

test("a thread has the id of its deleted namesake only when that one is removed (S4.2)", async () => {
  const parts = setup();
  await createThread(parts, KEY.tenantId, NEW);
  expect(await parts.threads.close(KEY)).toBe("closed");
  await expect(createThread(parts, KEY.tenantId, NEW)).rejects.toMatchObject({
    reason: "THREAD_EXISTS",
    message: "Thread chat is being deleted.",
  });
  await parts.threads.removeSome(KEY);
  expect(await createThread(parts, KEY.tenantId, NEW)).toMatchObject(KEY);
});
