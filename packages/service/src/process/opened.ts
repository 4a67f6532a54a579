/** Opens something made of several parts, and closes the parts again, the last one first. */

/** Takes the function that closes a part which was just opened. */
export type OnClose = (end: () => unknown) => void;

/** If opening fails, the parts that were opened are closed. A part whose closing throws does not keep the others open. */
export async function opened<Thing extends object>(
  open: (onClose: OnClose) => Promise<Thing>,
): Promise<Thing & { close(): Promise<void> }> {
  const ends: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    const end = ends.pop();
    if (end === undefined) return;
    try {
      await end();
    } finally {
      await close();
    }
  };
  try {
    return { ...(await open((end) => ends.push(end))), close };
  } catch (error) {
    await close();
    throw error;
  }
}
