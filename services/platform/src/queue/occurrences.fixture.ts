// Occurrences computed in the calling thread, for tests of code that uses them.

import { dueTimes, occurrencesAfter, recurrenceFault } from "./boss-occurrences.ts";
import type { Occurrences } from "./occurrences.ts";

export const inPlace: Occurrences = {
  after: async (...asked) => occurrencesAfter(...asked),
  fault: async (...asked) => recurrenceFault(...asked),
  next: async (recurrence, after) => occurrencesAfter(recurrence, after, 1)[0] ?? null,
  due: async (...asked) => dueTimes(...asked),
};
