// The fields of a form. It has no state: the text comes from `draft`, and `onChange` gets the changes.

import { type ReactNode, useId } from "react";
import type { Draft, Faults } from "./draft.ts";
import type { Field, Option } from "./field.ts";

interface Props {
  readonly field: Field;
  readonly draft: Draft;
  readonly faults: Faults;
  readonly onChange: (key: string, entered: Draft[string]) => void;
}

/** Up to this many options are all shown. More become a list to open. */
const RADIO_MAX = 5;
/** A text that may be longer than this gets several lines. */
const LINE_LENGTH = 100;
const INPUT_TYPES: Readonly<Record<string, string>> = {
  date: "date",
  "date-time": "datetime-local",
  time: "time",
  email: "email",
  uri: "url",
};

export function SchemaForm(props: Props): ReactNode {
  const { field } = props;
  if (field.kind !== "group") return <OneField {...props} />;
  const fields = field.fields.map((one) => <SchemaForm {...props} key={one.key} field={one} />);
  if (field.name === "") return <div className="form-fields">{fields}</div>;
  return (
    <fieldset className="form-group">
      <legend>
        <Label field={field} />
      </legend>
      {field.hint !== "" && <p className="form-hint">{field.hint}</p>}
      {fields}
    </fieldset>
  );
}

function OneField({ field, draft, faults, onChange }: Props): ReactNode {
  const id = useId();
  const fault = faults[field.key];
  const isMany = field.kind === "choices" || (field.kind === "choice" && isShort(field.options));
  const describedBy = `${id}-hint ${id}-fault`;
  const Box = isMany ? "fieldset" : "div";
  const label = <Label field={field} />;
  return (
    <Box
      className="form-field"
      data-field={field.key}
      aria-describedby={isMany ? describedBy : undefined}
    >
      {isMany ? <legend>{label}</legend> : <label htmlFor={id}>{label}</label>}
      <Control
        {...{ field, id, describedBy }}
        isWrong={fault !== undefined}
        entered={draft[field.key]}
        onChange={(entered) => onChange(field.key, entered)}
      />
      {field.hint !== "" && (
        <p className="form-hint" id={`${id}-hint`}>
          {field.hint}
        </p>
      )}
      {fault !== undefined && (
        <p className="form-fault" id={`${id}-fault`} role="alert" data-fault={field.key}>
          {fault}
        </p>
      )}
    </Box>
  );
}

function Label({ field }: { readonly field: Field }): ReactNode {
  return (
    <>
      {field.label}{" "}
      {field.isRequired ? (
        <span className="form-mark" title="required">
          *<span className="hidden"> required</span>
        </span>
      ) : (
        <span className="form-mark">optional</span>
      )}
    </>
  );
}

interface ControlProps {
  readonly field: Field;
  readonly id: string;
  readonly describedBy: string;
  readonly isWrong: boolean;
  readonly entered: Draft[string] | undefined;
  readonly onChange: (entered: Draft[string]) => void;
}

function Control({ field, id, describedBy, isWrong, entered, onChange }: ControlProps): ReactNode {
  const chosen = Array.isArray(entered) ? (entered as readonly number[]) : []; // a text is no array
  const typed = typeof entered === "string" ? entered : "";
  const common = { id, "aria-describedby": describedBy, "aria-invalid": isWrong };
  const input = {
    ...common,
    value: typed,
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      onChange(target.value),
  };
  switch (field.kind) {
    case "constant":
      return <output {...common}>{JSON.stringify(field.value)}</output>;
    case "choice":
      return isShort(field.options) ? (
        <Ticks type="radio" name={id} {...{ field, chosen, onChange }} />
      ) : (
        <select
          {...common}
          value={chosen[0] ?? ""}
          onChange={({ target }) => onChange(target.value === "" ? [] : [Number(target.value)])}
        >
          <option value="">Choose…</option>
          {field.options.map(({ label }, index) => (
            <option key={label} value={index}>
              {label}
            </option>
          ))}
        </select>
      );
    case "choices":
      return <Ticks type="checkbox" name={id} {...{ field, chosen, onChange }} />;
    case "number":
      return <input {...input} type="text" inputMode="decimal" placeholder={rangeText(field)} />;
    case "json":
      return <textarea {...input} rows={5} spellCheck={false} placeholder="JSON" />;
    case "text":
      return (field.maxLength ?? 0) > LINE_LENGTH && field.format === "" ? (
        <textarea {...input} className="prose" rows={3} />
      ) : (
        <input {...input} type={INPUT_TYPES[field.format] ?? "text"} />
      );
    case "group": // drawn above
      return null;
  }
}

const isShort = (options: readonly Option[]): boolean => options.length <= RADIO_MAX;

/** `0 to 1000`, `from 0`, `up to 5`. Empty if every number is valid. */
function rangeText({
  min,
  max,
}: {
  readonly min: number | undefined;
  readonly max: number | undefined;
}): string {
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  if (min !== undefined) return `from ${min}`;
  return max === undefined ? "" : `up to ${max}`;
}

interface TicksProps {
  readonly type: "radio" | "checkbox";
  readonly name: string;
  readonly field: { readonly options: readonly Option[]; readonly isRequired: boolean };
  readonly chosen: readonly number[];
  readonly onChange: (chosen: readonly number[]) => void;
}

function Ticks({ type, name, field, chosen, onChange }: TicksProps): ReactNode {
  const toggle = (index: number): void => {
    const isOn = chosen.includes(index);
    if (type === "radio") onChange([index]);
    else onChange(isOn ? chosen.filter((one) => one !== index) : [...chosen, index]);
  };
  return (
    <div className="form-ticks">
      {field.options.map(({ label }, index) => (
        <label key={label}>
          <input
            type={type}
            name={name}
            checked={chosen.includes(index)}
            onChange={() => toggle(index)}
          />
          {label}
        </label>
      ))}
      {type === "radio" && !field.isRequired && chosen.length > 0 && (
        <button type="button" className="quiet" onClick={() => onChange([])}>
          Clear
        </button>
      )}
    </div>
  );
}
