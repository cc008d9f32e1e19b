// The pools of a process as values of its gauge, and as fields of a line of its log.

interface Pool {
  readonly pool: string;
  readonly size: number;
  readonly inUse: number;
  readonly idle: number;
}

/** The values of the gauge of pools, with their labels. */
export const poolValues = (pools: readonly Pool[]) =>
  pools.flatMap(({ pool, size, inUse, idle }) => [
    { value: size, labels: { pool, state: "max" } },
    { value: inUse, labels: { pool, state: "in_use" } },
    { value: idle, labels: { pool, state: "idle" } },
  ]);

/** The fields of the log line about the pools of a process. */
export const poolFields = (pools: readonly Pool[]) => ({
  pools: Object.fromEntries(
    pools.map(({ pool, size, inUse, idle }) => [pool, { max: size, in_use: inUse, idle }]),
  ),
});
