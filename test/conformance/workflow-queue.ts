// The promises of every workflow queue. All tests of a kind share one queue, which is emptied before each.

import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { lossTests, pauseTests, settleTests } from "./workflow-queue-claims.ts";
import { commandTests, epochTests, orderTests, refusalTests } from "./workflow-queue-commands.ts";
import type { OpenQueue, QueueUnderTest } from "./workflow-queue-open.ts";
import { changeTests, listTests, redriveTests } from "./workflow-queue-changes.ts";
import { workerTests } from "./workflow-queue-worker.ts";

export function workflowQueueSuite(kind: string, open: OpenQueue): void {
  describe(`the workflow queue on ${kind}`, () => {
    let opened: QueueUnderTest;
    beforeAll(async () => {
      opened = await open();
    });
    beforeEach(() => opened.empty());
    afterAll(() => opened.close());
    const under: QueueUnderTest = {
      get queue() {
        return opened.queue;
      },
      get rival() {
        return opened.rival;
      },
      advance: (ms) => opened.advance(ms),
      empty: () => opened.empty(),
      close: () => opened.close(),
    };
    commandTests(under);
    refusalTests(under);
    orderTests(under);
    epochTests(under);
    settleTests(under);
    pauseTests(under);
    lossTests(under);
    changeTests(under);
    redriveTests(under);
    listTests(under);
    workerTests(under);
  });
}
