// Server reflection from protobuf-es descriptors, so that grpcurl and buf curl need no proto files.

import { toBinary, type DescFile, type DescService } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { Server } from "@grpc/grpc-js";
import { ReflectionService } from "@grpc/reflection";
import { ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";

/** The files that describe `services`, with everything they import, by name. */
export function filesOf(services: readonly DescService[]): ReadonlyMap<string, DescFile> {
  const files = new Map<string, DescFile>();
  // No service refers to the error details, but callers want to read them.
  for (const { file } of [...services, ErrorInfoSchema]) collect(file, files);
  return files;
}

/** A file and its imports in binary. Each file comes after its own imports. */
export function withImports(file: DescFile): Uint8Array[] {
  const files = new Map<string, DescFile>();
  collect(file, files);
  return [...files.values()].map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
}

/** Adds grpc.reflection.v1 and v1alpha for `services` to a grpc-js server. */
export const addReflection = (server: Server, services: readonly DescService[]): void => {
  const fileDescriptorProtos = [...filesOf(services).values()].map(({ proto }) =>
    Buffer.from(toBinary(FileDescriptorProtoSchema, proto)),
  );
  // The package expects a proto-loader package but reads only the descriptors of its entries.
  const loaded = { pawl: { fileDescriptorProtos } } as never;
  new ReflectionService(loaded, {
    services: services.map((service) => service.typeName),
  }).addToServer(server);
};

const collect = (file: DescFile, into: Map<string, DescFile>): void => {
  if (into.has(file.proto.name)) return;
  for (const dependency of file.dependencies) collect(dependency, into);
  into.set(file.proto.name, file);
};
