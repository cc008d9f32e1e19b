// grpc.reflection.v1 for Connect, so that `buf curl` and grpcurl need no proto files. The answers are made once, at start.

import { create, type DescFile, type DescService } from "@bufbuild/protobuf";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import { filesOf, withImports } from "@pawl/platform/rpc/reflection";
import {
  type ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionResponseSchema,
  type ServerReflectionResponse,
} from "@pawl/proto/grpc/reflection/v1/reflection_pb";

type Answer = ServerReflectionResponse["messageResponse"];

/** Serves the descriptors of `services`, of their imports, and of the error details. No service names the error details. */
export function createReflection(
  services: readonly DescService[],
): ServiceImpl<typeof ServerReflection> {
  const files = filesOf(services);
  const symbols = new Map<string, DescFile>();
  for (const file of files.values()) {
    for (const name of namesIn(file)) symbols.set(name, file);
  }
  const answer = (request: ServerReflectionRequest["messageRequest"]): Answer => {
    switch (request.case) {
      case "listServices":
        return {
          case: "listServicesResponse",
          // An init shape is enough: `create` makes the response from it.
          value: { service: services.map(({ typeName }) => ({ name: typeName })) } as never,
        };
      case "fileByFilename":
        return fileAnswer(files.get(request.value));
      case "fileContainingSymbol":
        return fileAnswer(symbols.get(request.value));
      case "fileContainingExtension":
      case "allExtensionNumbersOfType":
      case undefined:
        break;
    }
    // The contract has no extensions.
    return fileAnswer(undefined);
  };
  return {
    serverReflectionInfo: async function* (requests) {
      for await (const request of requests) {
        yield create(ServerReflectionResponseSchema, {
          validHost: request.host,
          originalRequest: request,
          messageResponse: answer(request.messageRequest),
        });
      }
    },
  };
}

function fileAnswer(file: DescFile | undefined): Answer {
  if (file === undefined) {
    const value = { errorCode: Code.NotFound, errorMessage: "not found" };
    return { case: "errorResponse", value: value as never };
  }
  const value = { fileDescriptorProto: withImports(file) };
  return { case: "fileDescriptorResponse", value: value as never };
}

/** Full names of everything a file declares. */
function* namesIn(file: DescFile): Generator<string> {
  const messages = [...file.messages];
  for (const message of messages) {
    yield message.typeName;
    messages.push(...message.nestedMessages);
    for (const inner of message.nestedEnums) yield inner.typeName;
    for (const field of message.fields) yield `${message.typeName}.${field.name}`;
  }
  for (const top of file.enums) yield top.typeName;
  for (const service of file.services) {
    yield service.typeName;
    for (const method of service.methods) yield `${service.typeName}.${method.name}`;
  }
}
