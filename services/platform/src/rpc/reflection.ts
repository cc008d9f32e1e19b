// Server reflection on grpc-js from protobuf-es descriptors, so that grpcurl and buf curl need no proto files.

import { toBinary, type DescFile, type DescService } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { Server } from "@grpc/grpc-js";
import { ReflectionService } from "@grpc/reflection";
import { ErrorInfoSchema } from "@pawl/proto/google/rpc/error_details_pb";

/** Adds grpc.reflection.v1 and v1alpha for `services`. */
export const addReflection = (server: Server, services: readonly DescService[]): void => {
  const files = new Map<string, DescFile>();
  // No service refers to the error details, but callers want to read them.
  for (const { file } of [...services, ErrorInfoSchema]) collect(file, files);
  const fileDescriptorProtos = [...files.values()].map((file) =>
    Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)),
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
