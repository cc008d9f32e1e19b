// Instruments that exist before the SDK. The catalogue declares them once, and startTelemetry binds them to a meter. Until then they do
// nothing.

import type { Attributes, Meter } from "@opentelemetry/api";

/** A declared instrument. `bind` connects it to a meter. */
export interface Instrument {
  readonly name: string;
  readonly description: string;
  bind(meter: Meter): void;
}

/** An instrument's labels, or undefined if it has none. */
type Labels = Attributes | undefined;
type Write<Of extends Labels> = (
  value: number,
  ...labels: Of extends Attributes ? [labels: Of] : [labels?: Record<string, never>]
) => void;

/** Seconds from a tenth of a millisecond to five minutes: a tick takes about a millisecond, a handler may take minutes. */
const SECONDS_BUCKETS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  30, 60, 300,
];
/** Counts in powers of two, up to the largest batch. */
export const COUNT_BUCKETS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];

function declare<Of extends Labels>(
  name: string,
  description: string,
  create: (meter: Meter) => (value: number, labels?: Attributes) => void,
) {
  let bound: ReturnType<typeof create> | undefined;
  const instrument: Instrument = {
    name,
    description,
    bind: (meter) => void (bound = create(meter)),
  };
  const write: Write<Of> = (value, ...labels) => bound?.(value, ...labels);
  return { instrument, write };
}

/** Counts upwards. */
export const counter = <Of extends Labels = undefined>(name: string, description: string) => {
  const { instrument, write } = declare<Of>(name, description, (meter) => {
    const made = meter.createCounter(name, { description });
    return (value, labels) => made.add(value, labels);
  });
  return { ...instrument, add: write };
};

/** Counts up and down. */
export const level = <Of extends Labels = undefined>(name: string, description: string) => {
  const { instrument, write } = declare<Of>(name, description, (meter) => {
    const made = meter.createUpDownCounter(name, { description });
    return (value, labels) => made.add(value, labels);
  });
  return { ...instrument, add: write };
};

/** Holds the last value. */
export const gauge = <Of extends Labels = undefined>(name: string, description: string) => {
  const { instrument, write } = declare<Of>(name, description, (meter) => {
    const made = meter.createGauge(name, { description });
    return (value, labels) => made.record(value, labels);
  });
  return { ...instrument, set: write };
};

/** Records how often, and how large. */
export const histogram = <Of extends Labels = undefined>(
  name: string,
  description: string,
  buckets: readonly number[] = SECONDS_BUCKETS,
) => {
  const advice = { explicitBucketBoundaries: [...buckets] };
  const { instrument, write } = declare<Of>(name, description, (meter) => {
    const made = meter.createHistogram(name, { description, advice });
    return (value, labels) => made.record(value, labels);
  });
  return { ...instrument, record: write };
};
