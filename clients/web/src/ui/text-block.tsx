// Texts for people: JSON in a box, a button that copies, a text that shows its first lines, a fact by name, and the head of a table.

import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";

const SAID_MS = 1500;

/** A small button that copies `text`. `what` names it for screen readers. */
export function CopyButton({
  text,
  what,
}: {
  readonly text: string;
  readonly what: string;
}): ReactNode {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = window.setTimeout(() => setCopied(false), SAID_MS);
    return () => window.clearTimeout(timer);
  }, [copied]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <button
      type="button"
      className="copy"
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={copy}
    >
      {copied ? "copied" : "copy"}
    </button>
  );
}

interface CodeProps {
  readonly text: string;
  readonly what: string;
  /** The text for an empty block; default none. */
  readonly empty?: string;
}

/** Shows `text`, or `empty` when there is none. */
export function CodeBlock({ text, what, empty = "" }: CodeProps): ReactNode {
  if (text === "" || text === "null") return <p className="muted">{empty}</p>;
  return (
    <div className="code">
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}

/** Shows two lines, with a button for all if there are more. */
export function Clamped({ children }: { readonly children: ReactNode }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [isCut, setCut] = useState(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || isOpen) return undefined;
    const measure = (): void => setCut(element.scrollHeight > element.clientHeight + 1);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [children, isOpen]);
  return (
    <>
      <div ref={box} className={isOpen ? "clamped is-open" : "clamped"}>
        {children}
      </div>
      {(isCut || isOpen) && (
        <button type="button" className="link-button" onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : "Show all"}
        </button>
      )}
    </>
  );
}

interface FactProps {
  readonly name: string;
  readonly mono?: boolean;
  readonly copy?: string;
  /** The name of the copied text, where it is not an id. */
  readonly copied?: string;
  readonly children: ReactNode;
}

/** A name and its value in a list of facts. `copy` is the text that its button copies. */
export function Fact({ name, mono, copy, copied, children }: FactProps): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={mono === true ? "mono" : undefined}>
        <span>{children}</span>
        {copy !== undefined && (
          <CopyButton text={copy} what={copied ?? `${name.toLowerCase()} id`} />
        )}
      </dd>
    </div>
  );
}

interface CellProps {
  readonly name: string;
  readonly isNumber?: boolean;
  readonly children: ReactNode;
}

/** A value of a list. Narrow pages have no table head, so the value has its name there. */
export function Cell({ name, isNumber = false, children }: CellProps): ReactNode {
  return (
    <td className={isNumber ? "number" : undefined}>
      <span className="cell-name">{name}</span>
      <span>{children}</span>
    </td>
  );
}

interface HeadProps {
  readonly names: readonly string[];
  /** The columns of numbers, which are aligned to the right. */
  readonly numbers: readonly string[];
  /** A last column without a visible name. */
  readonly hidden?: string;
}

export function TableHead({ names, numbers, hidden }: HeadProps): ReactNode {
  return (
    <thead>
      <tr>
        {names.map((name) => (
          <th key={name} scope="col" className={numbers.includes(name) ? "number" : undefined}>
            {name}
          </th>
        ))}
        {hidden !== undefined && (
          <th scope="col">
            <span className="hidden">{hidden}</span>
          </th>
        )}
      </tr>
    </thead>
  );
}
