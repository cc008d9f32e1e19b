// The promises of every journal. The suite runs on memory and on Postgres, and so makes the one a twin of the other.

import { describe } from "vitest";
import { daySuite } from "./journal-days.ts";
import { deadLetterSuite } from "./journal-dead-letters.ts";
import { assistantSuite } from "./journal-assistants.ts";
import { approvalSuite } from "./journal-approvals.ts";
import { claimSuite } from "./journal-claims.ts";
import { effectSuite } from "./journal-effects.ts";
import { jobSuite } from "./journal-jobs.ts";
import { keySuite } from "./journal-keys.ts";
import { readSuite } from "./journal-reads.ts";
import { slotSuite } from "./journal-slots.ts";
import { temporarySuite } from "./journal-temporary.ts";
import { threadSuite } from "./journal-threads.ts";
import { versionSuite } from "./journal-versions.ts";
import { waitSuite } from "./journal-waits.ts";
import type { OpenStore } from "./store.ts";

/** All suites of the journal on one kind of store. */
export function journalSuite(name: string, open: OpenStore): void {
  describe(`journal on ${name}`, () => {
    versionSuite(open);
    claimSuite(open);
    effectSuite(open);
    jobSuite(open);
    readSuite(open);
    keySuite(open);
    slotSuite(open);
    approvalSuite(open);
    waitSuite(open);
    assistantSuite(open);
    threadSuite(open);
    temporarySuite(open);
    daySuite(open);
    deadLetterSuite(open);
  });
}
