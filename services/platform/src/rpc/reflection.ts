// Server reflection from protobuf-es descriptors, so that grpcurl and buf curl need no proto files. The first question makes the table of
// symbols, so a server without questions pays nothing.

import { create, toBinary, type DescFile, type DescService } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";
import { ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from "@pawl/proto/grpc/reflection/v1/reflection_pb";
import { serve, type ServedService } from "./implementation.ts";

type Answer = ServerReflectionResponse["messageResponse"];

/** Answers about `services`, their imports, and the error details. No service names the error details, but callers want to read them. */
export function reflectionOf(
  services: readonly DescService[],
): (request: ServerReflectionRequest) => ServerReflectionResponse {
  let known: Tables | undefined;
  return (request) => {
    known ??= tablesOf(services);
    return create(ServerReflectionResponseSchema, {
      validHost: request.host,
      originalRequest: request,
      messageResponse: answer(request.messageRequest, known),
    });
  };
}

/** A service under another name, with the same methods and messages. */
function underName<Service extends DescService>(service: Service, typeName: string): Service {
  const alias = { ...service, typeName };
  const methods = service.methods.map((method) => ({ ...method, parent: alias }));
  const method = Object.fromEntries(methods.map((each) => [each.localName, each]));
  return Object.assign(alias, { methods, method });
}

/** grpc.reflection.v1, and v1alpha with the same messages, which older tools ask. */
export const REFLECTIONS = [
  ServerReflection,
  underName(ServerReflection, "grpc.reflection.v1alpha.ServerReflection"),
] as const;

/** Reflection for a grpc-js server. */
export function servedReflection(services: readonly DescService[]): readonly ServedService[] {
  const answerTo = reflectionOf(services);
  return REFLECTIONS.map((service) =>
    serve(service, {
      serverReflectionInfo: (stream) =>
        stream.listen({
          message: (request) => void stream.write(answerTo(request)),
          end: () => stream.end(),
        }),
    }),
  );
}

interface Tables {
  readonly services: readonly DescService[];
  /** By name. Each file comes after its own imports. */
  readonly files: ReadonlyMap<string, DescFile>;
  /** By the full names of what they declare. */
  readonly symbols: ReadonlyMap<string, DescFile>;
}

function tablesOf(services: readonly DescService[]): Tables {
  const files = new Map<string, DescFile>();
  for (const { file } of [...services, ErrorInfoSchema]) collect(file, files);
  const symbols = new Map<string, DescFile>();
  for (const file of files.values()) {
    for (const name of namesIn(file)) symbols.set(name, file);
  }
  return { services, files, symbols };
}

function answer(
  request: ServerReflectionRequest["messageRequest"],
  { services, files, symbols }: Tables,
): Answer {
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
}

function fileAnswer(file: DescFile | undefined): Answer {
  if (file === undefined) {
    const value = { errorCode: status.NOT_FOUND, errorMessage: "not found" };
    return { case: "errorResponse", value: value as never };
  }
  const value = { fileDescriptorProto: withImports(file) };
  return { case: "fileDescriptorResponse", value: value as never };
}

/** A file and its imports in binary. */
function withImports(file: DescFile): Uint8Array[] {
  const files = new Map<string, DescFile>();
  collect(file, files);
  return [...files.values()].map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
}

function collect(file: DescFile, into: Map<string, DescFile>): void {
  if (into.has(file.proto.name)) return;
  for (const dependency of file.dependencies) collect(dependency, into);
  into.set(file.proto.name, file);
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
