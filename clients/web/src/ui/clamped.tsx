// A text that may be very long: its first lines, and the rest when the reader asks for it.

import type { ReactNode } from "react";
import { useLayoutEffect, useRef, useState } from "react";

/** Shows two lines, with a button for all where there are more. */
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
