// Server reflection for Connect. The answers are those of every Pawl server.

import type { DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { reflectionOf } from "@pawl/platform/rpc/reflection";
import type { ServerReflection } from "@pawl/proto/grpc/reflection/v1/reflection_pb";

/** Serves the descriptors of `services`. */
export function createReflection(
  services: readonly DescService[],
): ServiceImpl<typeof ServerReflection> {
  const answerTo = reflectionOf(services);
  return {
    serverReflectionInfo: async function* (requests) {
      for await (const request of requests) yield answerTo(request);
    },
  };
}
