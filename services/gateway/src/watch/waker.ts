// Lets one waiter sleep until it is woken, its time is up, or its caller leaves. A call of `wake` while it does not sleep is lost, so the
// waiter looks at its state before it sleeps and after.

export class Waker {
  #wake: (() => void) | undefined;

  wake(): void {
    this.#wake?.();
  }

  async sleep(timeoutMs: number, signal: AbortSignal): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => this.wake();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, timeoutMs);
      signal.addEventListener("abort", onAbort, { once: true });
    });
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    this.#wake = undefined;
  }
}
