// One controller that also aborts when a caller's signal does. AbortSignal.any does the same, but Node 18 and browsers from before
// 2024 do not have it.

/** Aborts `own` as soon as `signal` aborts. The listener goes when `own` has aborted, so that a long-lived signal keeps none. */
export function followSignal(own: AbortController, signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  if (signal.aborted) {
    own.abort(signal.reason);
    return;
  }
  const abort = (): void => own.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  own.signal.addEventListener("abort", () => signal.removeEventListener("abort", abort), {
    once: true,
  });
}
