/**
 * The parts of a one-shot mask. A part is a set of f authorities that must not know its seed, written as a bit mask; the other n - f hold
 * it. The f authorities that collude miss exactly the part that names them, and with it every mask.
 */

export type Part = number;

/** All sets of `tolerated` out of `authorities`, by rising bit mask. A single authority holds the only part 0. Empty if there are fewer authorities. */
export function partsOf(authorities: number, tolerated: number): readonly Part[] {
  if (tolerated === 0) return [0];
  const parts: Part[] = [];
  // From one set to the next (Gosper): most numbers in between have another number of bits.
  for (let mask = 2 ** tolerated - 1; mask < 2 ** authorities; ) {
    parts.push(mask);
    const lowest = mask & -mask;
    const carried = mask + lowest;
    mask = carried | (((carried ^ mask) >>> 2) / lowest);
  }
  return parts;
}

/** The parts of a policy on which its mask parts depend. */
interface PartedTask {
  readonly authorities: readonly Uint8Array[];
  readonly oneShot: { readonly tolerated: number } | undefined;
}

/** The parts of a task. Throws if it is not in the one-shot mode. */
export function taskParts(task: PartedTask): readonly Part[] {
  return partsOf(task.authorities.length, oneShotOf(task).tolerated);
}

/** The fields of a policy that only the one-shot mode has. Throws if they are missing. */
export function oneShotOf<Lines>({ oneShot }: { readonly oneShot: Lines | undefined }): Lines {
  if (oneShot === undefined) throw new Error('the task is not of the one-shot mode');
  return oneShot;
}

/** True if the authority with this index holds the seed of the part. */
export function isHolder(part: Part, authority: number): boolean {
  return ((part >> authority) & 1) === 0;
}
