// Text that arrives piece by piece. It follows its end unless the reader has scrolled up.

import type { ReactNode } from "react";
import { useLayoutEffect, useRef } from "react";

const NEAR_PX = 24;

/** Streamed text, with a caret while more may come. */
export function StreamText({
  text,
  isLive,
}: {
  readonly text: string;
  readonly isLive: boolean;
}): ReactNode {
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    const element = box.current;
    if (element !== null && follows.current) element.scrollTop = element.scrollHeight;
  }, [text]);
  return (
    <>
      <h3>Stream</h3>
      <pre
        ref={box}
        tabIndex={0}
        className={isLive ? "stream is-live" : "stream"}
        data-stream={isLive ? "live" : "done"}
        onScroll={({ currentTarget: at }) => {
          follows.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_PX;
        }}
      >
        {text}
      </pre>
    </>
  );
}
