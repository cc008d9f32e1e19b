// Chooses the traces to keep, by the standard variables OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG. The SDK does not read them itself.

import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from "@opentelemetry/sdk-trace";

/** The sampler that the environment names; parentbased_always_on if it names none or an unknown one. */
export const samplerFrom = (env: Readonly<Record<string, string | undefined>>): Sampler => {
  const name = env["OTEL_TRACES_SAMPLER"] ?? "parentbased_always_on";
  const root = rootSampler(name.replace(/^parentbased_/, ""), env["OTEL_TRACES_SAMPLER_ARG"]);
  return name.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
};

const rootSampler = (name: string, argument: string | undefined): Sampler => {
  if (name === "always_off") return new AlwaysOffSampler();
  if (name === "traceidratio") return new TraceIdRatioBasedSampler(ratio(argument));
  return new AlwaysOnSampler();
};

const ratio = (text: string | undefined): number => {
  const value = Number(text ?? "1");
  return value >= 0 && value <= 1 ? value : 1;
};
