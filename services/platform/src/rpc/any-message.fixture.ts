// Any message of a schema, drawn from its descriptor: what is added to a contract is drawn too, without a word here.

import type { DescField, DescMessage, DescOneof } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import * as fc from "fast-check";

type Init = Record<string, unknown>;

/** Mostly names, as they are on the wire; now and then text of any kind and length. */
const anyText = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.string({ unit: fc.constantFrom(..."abcXYZ019-_./".split("")), maxLength: 70 }),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 50 }) },
  { weight: 1, arbitrary: fc.constantFrom("\ud800", "a".repeat(40) + "ü", "x".repeat(200)) },
);
const anyBytes = fc.oneof(
  { weight: 6, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  { weight: 1, arbitrary: fc.nat({ max: 20_000 }).map((length) => new Uint8Array(length)) },
);
const anyUint32 = fc.oneof(fc.nat({ max: 300 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }));
const anyUint64 = fc.oneof(
  { weight: 6, arbitrary: fc.nat({ max: 300_000 }).map(BigInt) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 2n ** 48n, max: 2n ** 54n }) },
);

const anyKey = fc.string({ maxLength: 40 }).filter((key) => key !== "__proto__");

/** An init object, in which any field may be missing. */
export function anyInit(schema: DescMessage): fc.Arbitrary<Init> {
  const members = schema.members.map((member): [string, fc.Arbitrary<unknown>] => [
    member.localName,
    member.kind === "oneof" ? anyCase(member) : anyField(member),
  ]);
  return fc.record(Object.fromEntries(members), { requiredKeys: [] });
}

const anyCase = (oneof: DescOneof): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.constant({ case: undefined }),
    ...oneof.fields.map((field) =>
      anyField(field).map((value) => ({ case: field.localName, value })),
    ),
  );

function anyField(field: DescField): fc.Arbitrary<unknown> {
  if (field.fieldKind === "message") return anyInit(field.message);
  if (field.fieldKind === "enum") return fc.constantFrom(...field.enum.values.map((v) => v.number));
  if (field.fieldKind === "scalar") return anyScalar(field.scalar);
  if (field.fieldKind === "map" && field.mapKind === "scalar")
    return fc.dictionary(anyKey, anyScalar(field.scalar), { maxKeys: 3 });
  if (field.fieldKind === "map")
    throw new Error(`${field.toString()}: such maps are not drawn yet`);
  if (field.listKind === "message") return fc.array(anyInit(field.message), { maxLength: 3 });
  if (field.listKind === "scalar") return fc.array(anyScalar(field.scalar), { maxLength: 3 });
  throw new Error(`${field.toString()}: lists of enums are not drawn yet`);
}

function anyScalar(type: ScalarType): fc.Arbitrary<unknown> {
  if (type === ScalarType.STRING) return anyText;
  if (type === ScalarType.BYTES) return anyBytes;
  if (type === ScalarType.BOOL) return fc.boolean();
  if (type === ScalarType.UINT32) return anyUint32;
  if (type === ScalarType.UINT64 || type === ScalarType.FIXED64) return anyUint64;
  throw new Error(`${ScalarType[type]} is not drawn yet`);
}
