// The users' JSON as google.protobuf.Value, beside the exact bytes of the `…_json` fields. `curl` and `buf curl` show it. The contract
// defines the fields: a Value `x` next to bytes `x_json`. Watchers of a run share messages, so this code copies a message before it fills
// in a field.

import { type DescField, type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { fromJsonBytes } from "./scalar.ts";
import { toValue } from "./value.ts";

/** The form of the users' JSON that a caller wants: the exact bytes, readable values, or both. */
export const JSON_FORMS = ["both", "bytes", "values"] as const;
export type JsonForm = (typeof JSON_FORMS)[number];

type Fields = Record<string, unknown>;

interface Twin {
  readonly bytes: string;
  readonly value: string;
}
interface Part {
  readonly name: string;
  readonly isList: boolean;
  readonly plan: Plan;
}
interface OneofPart {
  readonly name: string;
  readonly plans: ReadonlyMap<string, Plan>;
}
/** The JSON fields of a kind of message. */
interface Plan {
  readonly twins: readonly Twin[];
  readonly parts: readonly Part[];
  readonly oneofs: readonly OneofPart[];
}

const VALUE = "google.protobuf.Value";
const BYTES_SUFFIX = "Json";
const NO_BYTES = new Uint8Array(0);
/** The field that marks a message whose value was left out for lack of room. */
const LEFT_OUT = "valuesLeftOut";

const plans = new WeakMap<DescMessage, Plan>();

/** The message in the form that its caller wants. The same object if there is nothing to change. It never throws for any bytes. */
export function readable<Schema extends DescMessage>(
  schema: Schema,
  message: MessageShape<Schema>,
  form: JsonForm,
): MessageShape<Schema> {
  if (form === "bytes") return message;
  const plan = planOf(schema);
  if (isEmpty(plan)) return message;
  const room = (): number => LIMITS.messageBytes - toBinary(schema, message).length;
  // A plan copies the given message and fills in fields of the schema.
  return new Filling(form, room).fill(plan, message) as MessageShape<Schema>;
}

const isEmpty = ({ twins, parts, oneofs }: Plan): boolean =>
  twins.length + parts.length + oneofs.length === 0;

function planOf(schema: DescMessage): Plan {
  const known = plans.get(schema);
  if (known !== undefined) return known;
  const twins: Twin[] = [];
  const parts: Part[] = [];
  const oneofs: OneofPart[] = [];
  // Store the plan before its fields are read, so that a recursive message ends here.
  const plan = { twins, parts, oneofs };
  plans.set(schema, plan);
  for (const field of schema.fields) {
    const twin = twinOf(field);
    if (twin !== undefined) twins.push(twin);
    const inner = field.oneof === undefined ? innerPlan(field) : undefined;
    if (inner !== undefined)
      parts.push({ name: field.localName, isList: field.fieldKind === "list", plan: inner });
  }
  for (const { localName: name, fields } of schema.oneofs) {
    const inner = new Map<string, Plan>();
    for (const field of fields) {
      const found = innerPlan(field);
      if (found !== undefined) inner.set(field.localName, found);
    }
    if (inner.size > 0) oneofs.push({ name, plans: inner });
  }
  return plan;
}

function twinOf(field: DescField): Twin | undefined {
  if (field.fieldKind !== "message" || field.message.typeName !== VALUE) return undefined;
  const bytes = `${field.localName}${BYTES_SUFFIX}`;
  return field.parent.field[bytes] === undefined ? undefined : { bytes, value: field.localName };
}

function innerPlan(field: DescField): Plan | undefined {
  if (field.fieldKind !== "message" && field.fieldKind !== "list") return undefined;
  if (field.message === undefined || field.message.typeName.startsWith("google.")) return undefined;
  const plan = planOf(field.message);
  return isEmpty(plan) ? undefined : plan;
}

/** One answer while its values are filled in. */
class Filling {
  readonly #form: JsonForm;
  readonly #room: () => number;
  #left: number | undefined;

  constructor(form: JsonForm, room: () => number) {
    this.#form = form;
    this.#room = room;
  }

  fill({ twins, parts, oneofs }: Plan, message: Fields): Fields {
    let copy: Fields | undefined;
    const set = (name: string, value: unknown): void => {
      if (message[name] === value) return;
      copy ??= { ...message };
      copy[name] = value;
    };
    const leftOut: string[] = [];
    for (const { bytes, value } of twins) {
      const json = message[bytes] as Uint8Array;
      if (json.length === 0) continue;
      const made = this.#valueOf(json);
      if (made === undefined) leftOut.push(value);
      else set(value, made);
      if (made !== undefined && this.#form === "values") set(bytes, NO_BYTES);
    }
    if (leftOut.length > 0) set(LEFT_OUT, leftOut);
    for (const { name, isList, plan } of parts) {
      const part = message[name];
      if (isList) set(name, this.#fillAll(plan, part as readonly Fields[]));
      else if (part !== undefined) set(name, this.fill(plan, part as Fields));
    }
    for (const { name, plans: cases } of oneofs) {
      const chosen = message[name] as { readonly case?: string; readonly value?: Fields };
      const plan = cases.get(chosen.case ?? "");
      if (plan === undefined || chosen.value === undefined) continue;
      const value = this.fill(plan, chosen.value);
      if (value !== chosen.value) set(name, { case: chosen.case, value });
    }
    return copy ?? message;
  }

  #fillAll(plan: Plan, list: readonly Fields[]): readonly Fields[] {
    let hasChanged = false;
    const filled = list.map((item) => {
      const made = this.fill(plan, item);
      hasChanged ||= made !== item;
      return made;
    });
    return hasChanged ? filled : list;
  }

  #valueOf(json: Uint8Array): unknown {
    // The answer is measured only if there is something to fill in.
    this.#left ??= Math.min(LIMITS.readableBytes, this.#room());
    const made = toValue(fromJsonBytes(json) ?? "", this.#left);
    this.#left -= made?.bytes ?? 0;
    return made?.value;
  }
}
