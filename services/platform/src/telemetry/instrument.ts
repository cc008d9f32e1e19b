// Instruments that exist before the SDK: the catalogue declares them once, startTelemetry binds them to a meter, and until then they do nothing.

import type {
  Attributes,
  Counter,
  Gauge,
  Histogram,
  Meter,
  UpDownCounter,
} from "@opentelemetry/api";

/** A declared instrument; `bind` connects it to a meter. */
export interface Instrument {
  readonly name: string;
  readonly description: string;
  bind(meter: Meter): void;
}

/** An instrument's labels, or undefined if it has none. */
type Labels = Attributes | undefined;
type LabelArguments<Of extends Labels> = Of extends Attributes
  ? [labels: Of]
  : [labels?: Record<string, never>];

/** Counts upwards. */
export interface CounterInstrument<Of extends Labels> extends Instrument {
  add(value: number, ...labels: LabelArguments<Of>): void;
}
/** Records how often and how much. */
export interface HistogramInstrument<Of extends Labels> extends Instrument {
  record(value: number, ...labels: LabelArguments<Of>): void;
}
/** Holds the last value. */
export interface GaugeInstrument<Of extends Labels> extends Instrument {
  set(value: number, ...labels: LabelArguments<Of>): void;
}

export const counter = <Of extends Labels = undefined>(
  name: string,
  description: string,
): CounterInstrument<Of> => {
  let bound: Counter | undefined;
  return {
    name,
    description,
    bind: (meter) => void (bound = meter.createCounter(name, { description })),
    add: (value, ...labels) => bound?.add(value, ...labels),
  };
};

/** Seconds from a tenth of a millisecond to five minutes: a tick takes about a millisecond, a handler may take minutes. */
export const SECONDS_BUCKETS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  30, 60, 300,
];
/** Counts in powers of two, up to the largest batch. */
export const COUNT_BUCKETS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];

export const histogram = <Of extends Labels = undefined>(
  name: string,
  description: string,
  buckets: readonly number[] = SECONDS_BUCKETS,
): HistogramInstrument<Of> => {
  let bound: Histogram | undefined;
  const advice = { explicitBucketBoundaries: [...buckets] };
  return {
    name,
    description,
    bind: (meter) => void (bound = meter.createHistogram(name, { description, advice })),
    record: (value, ...labels) => bound?.record(value, ...labels),
  };
};

export const gauge = <Of extends Labels = undefined>(
  name: string,
  description: string,
): GaugeInstrument<Of> => {
  let bound: Gauge | undefined;
  return {
    name,
    description,
    bind: (meter) => void (bound = meter.createGauge(name, { description })),
    set: (value, ...labels) => bound?.record(value, ...labels),
  };
};

/** Counts up and down. */
export const level = <Of extends Labels = undefined>(
  name: string,
  description: string,
): CounterInstrument<Of> => {
  let bound: UpDownCounter | undefined;
  return {
    name,
    description,
    bind: (meter) => void (bound = meter.createUpDownCounter(name, { description })),
    add: (value, ...labels) => bound?.add(value, ...labels),
  };
};
