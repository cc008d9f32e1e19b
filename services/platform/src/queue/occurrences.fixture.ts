// Occurrences computed where they are asked for: for tests of what is done with them.

import { occurrencesAfter, recurrenceFault } from "./boss-occurrences.ts";
import { dueTimes } from "./due-times.ts";
import type { Occurrences } from "./occurrences.ts";

export const inPlace: Occurrences = {
  after: async (...asked) => occurrencesAfter(...asked),
  fault: async (...asked) => recurrenceFault(...asked),
  next: async (recurrence, after) => occurrencesAfter(recurrence, after, 1)[0] ?? null,
  due: async (...asked) => dueTimes(...asked),
};
