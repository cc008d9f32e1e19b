// A piece of JSON or text, scrolling within itself, with a way to copy it.

import type { ReactNode } from "react";
import { CopyButton } from "./copy-button.tsx";

interface Props {
  readonly text: string;
  readonly what: string;
  readonly empty: string;
}

/** Shows `text`, or `empty` when there is none. */
export function CodeBlock({ text, what, empty }: Props): ReactNode {
  if (text === "" || text === "null") return <p className="muted">{empty}</p>;
  return (
    <div className="code">
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
