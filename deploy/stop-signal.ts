// Ctrl-C and SIGTERM as an AbortSignal. A terminal's Ctrl-C reaches the whole process group and parents pass it
// on besides, so one press may arrive several times; only a later one means that the person has lost patience.
const ECHO_MS = 1_000;

/** Aborts on the first signal; a second one, a while later, leaves at once. */
export function stopSignal(say: (text: string) => void): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  const onSignal = (): void => {
    const now = Date.now();
    if (firstAt === 0) {
      firstAt = now;
      controller.abort();
    } else if (now - firstAt > ECHO_MS) {
      say("! leaving without waiting; guards end what is left");
      process.exit(130);
    }
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, onSignal);
  return controller.signal;
}
