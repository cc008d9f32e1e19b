// The span of a tick. A tick moves runs of many traces, so it is a trace of its own that links to theirs.

import { ATTRIBUTES, SPANS } from "@pawl/platform/telemetry/catalogue";
import { isTracing, linksTo, NO_TRACE, withSpan } from "@pawl/platform/telemetry/trace";
import type { CachedRun } from "../commit/cache.ts";

/** A large tick links to this many runs. */
const LINKS_MAX = 64;

/** Commits a tick in a span, if traces are on and a run of the tick has one. */
export function inTickSpan<Result>(
  runs: readonly CachedRun[],
  { inputCount, eventCount }: { readonly inputCount: number; readonly eventCount: () => number },
  commit: () => Promise<Result>,
): Promise<Result> {
  if (!isTracing()) return commit();
  const traced = runs.filter(({ traceparent }) => traceparent !== null).slice(0, LINKS_MAX);
  if (traced.length === 0) return commit();
  const links = traced.flatMap(({ traceparent }) => linksTo(traceparent ?? ""));
  const attributes = { [ATTRIBUTES.inputCount]: inputCount };
  return withSpan(SPANS.tick, { parent: NO_TRACE, links, attributes }, async (span) => {
    const result = await commit();
    span.setAttribute(ATTRIBUTES.eventCount, eventCount());
    return result;
  });
}
