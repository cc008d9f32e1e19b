// The typed interface of a service implementation: one function for each method of its descriptor. It takes and returns messages.

import type {
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { UntypedHandleCall, UntypedServiceImplementation } from "@grpc/grpc-js";
import { EngineError } from "@pawl/core/fault/engine-error";

import { serverStream, type BidiStream } from "./bidi.ts";
import type { OnInternal } from "./status.ts";
import { unary, type UnaryHandler } from "./unary.ts";

/** The implementation of one bidirectional method. A rejection ends the stream with the error. */
type BidiHandler<In, Out> = (stream: BidiStream<In, Out>) => void | Promise<void>;

type HandlerOf<Method extends DescMethod> =
  Method extends DescMethodUnary<infer Input, infer Output>
    ? UnaryHandler<MessageShape<Input>, MessageInitShape<Output>>
    : Method extends DescMethodBiDiStreaming<infer Input, infer Output>
      ? BidiHandler<MessageShape<Input>, MessageInitShape<Output>>
      : never;

/** A function for each served method. The others answer UNKNOWN_METHOD. */
export type Implementation<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]?: HandlerOf<Service["method"][Name]>;
};

/** A service and its implementation. `serve` checks that they match. */
export interface ServedService {
  readonly service: DescService;
  readonly implementation: Readonly<Record<string, unknown>>;
}

/** Pairs a service with its implementation. */
export const serve = <Service extends DescService>(
  service: Service,
  implementation: Implementation<Service>,
): ServedService => ({ service, implementation });

interface Handling {
  readonly onInternal: OnInternal;
  readonly unaryDeadlineMs: number;
}

/** The grpc-js handlers of a served service. */
export const grpcImplementation = (
  { service, implementation }: ServedService,
  options: Handling,
): UntypedServiceImplementation => {
  const handlers: Record<string, UntypedHandleCall> = {};
  for (const method of service.methods) {
    const handler = implementation[method.localName];
    // A service of the contract may have streams that only gateways serve. grpc-js answers UNIMPLEMENTED for them.
    if (handler === undefined && method.methodKind === "server_streaming") continue;
    handlers[method.localName] = handle(method, handler, options);
  }
  return handlers;
};

const handle = (
  method: DescMethod,
  handler: unknown,
  { onInternal, unaryDeadlineMs }: Handling,
): UntypedHandleCall => {
  const unknown = new EngineError("UNKNOWN_METHOD", `${method.name} is not served here`);
  // `serve` has checked the handler's type against the descriptor. This type knows only its kind.
  if (method.methodKind === "unary") {
    const served = handler as UnaryHandler<unknown, unknown> | undefined;
    return unary(served ?? (() => Promise.reject(unknown)), onInternal, unaryDeadlineMs);
  }
  if (method.methodKind !== "bidi_streaming") {
    throw new Error(`${method.name}: only unary and bidirectional methods are served inside`);
  }
  const served = handler as BidiHandler<unknown, unknown> | undefined;
  const run = async (stream: BidiStream<unknown, unknown>): Promise<void> => {
    try {
      if (served === undefined) throw unknown;
      await served(stream);
    } catch (error) {
      stream.fail(error);
    }
  };
  return (call: Parameters<typeof serverStream>[0]) => void run(serverStream(call, onInternal));
};
