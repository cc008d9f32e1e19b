// An action of the user: whether it is under way, and its fault.

import { useState } from "react";
import { type Fault, readFault } from "./fault.ts";

/** `act` does the work of one action. It never rejects: the page shows a fault. */
export function useAction() {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault>();
  const act = async (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      await work();
    } catch (error) {
      setFault(readFault(error));
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, fault, setFault, act };
}
