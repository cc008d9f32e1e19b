// Copies a text to the clipboard and says so for a moment.

import { useEffect, useState } from "react";
import type { ReactNode } from "react";

const SAID_MS = 1500;

/** A small button that copies `text`; `what` names it for screen readers. */
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
