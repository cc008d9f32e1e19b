// The labels of the keys of a memory as clients see them.

import type { Taint } from "@pawl/core/policy/taint";

export const toWireKeyTaints = (taint: Readonly<Record<string, Taint>>) =>
  Object.entries(taint).map(([key, labels]) => ({ key, labels: [...labels] }));
