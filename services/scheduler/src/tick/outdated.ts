// Starts that were decided on a workflow or an assistant that has moved on. The loop refuses them, and their commands read it again.

import { AssistantMoved, WorkflowMoved } from "@pawl/platform/store/tick/journal";
import type { Input } from "../inputs/input.ts";

export type Outdated = WorkflowMoved | AssistantMoved;

export const isOutdated = (error: unknown): error is Outdated =>
  error instanceof WorkflowMoved || error instanceof AssistantMoved;

/** The starts of a batch that may be the reason. */
export const startsOn = (error: Outdated, batch: readonly Input[]): readonly Input[] =>
  batch.filter((input) => {
    if (input.kind !== "start") return false;
    const { assumesNewest, assistant } = input.start;
    return error instanceof WorkflowMoved ? assumesNewest : assistant !== undefined;
  });

export const without = (batch: readonly Input[], some: readonly Input[]): readonly Input[] => {
  const isLeft = new Set(some);
  return batch.filter((input) => !isLeft.has(input));
};
