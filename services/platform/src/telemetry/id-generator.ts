// Makes random ids, except for a span whose id is fixed. The file is loaded only if traces are on.

import { type IdGenerator, RandomIdGenerator } from "@opentelemetry/sdk-trace";
import { fixedSpanId } from "./span-id.ts";

export class ClaimIdGenerator implements IdGenerator {
  readonly #random = new RandomIdGenerator();

  generateTraceId(): string {
    return this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return fixedSpanId() ?? this.#random.generateSpanId();
  }
}
