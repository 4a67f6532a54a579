/** Opens something that takes one thing after the other, and gives all of them back, the last one first. */

/** Gets what gives a thing back that was just taken. */
export type OnClose = (end: () => unknown) => void;

/** What fails to open gives back what it had taken; an end that throws keeps no other from its turn. */
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
