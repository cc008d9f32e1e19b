// Programs that break one rule each, to prove that the kit notices. A mutant stands between a good program and the kit: it changes messages in
// such a way that the two together behave like a program with that fault. So mutants need no hooks in an SDK and fit every language.

import type { Fault } from "./mutants/change.ts";
import { INVOCATION_FAULTS } from "./mutants/invocations.ts";
import { QUEUE_FAULTS } from "./mutants/queues.ts";

export const FAULTS: readonly Fault[] = [...QUEUE_FAULTS, ...INVOCATION_FAULTS];
