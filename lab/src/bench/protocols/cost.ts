/** The cost of one sum for a user, the server and the authority; in total and by phase. */

export interface Amounts {
  readonly userMs: number;
  readonly serverMs: number;
  readonly authorityMs: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
}

export interface PhaseCost extends Amounts {
  readonly phase: string;
}

export interface Cost extends Amounts {
  /** The hash of the downloaded model, which is not in `userMs`; undefined if the protocol does not bind a model. */
  readonly modelHashMs?: number;
  /** The figures of a user are medians, in total and by phase, so they need not add up. */
  readonly phases: readonly PhaseCost[];
}

export const NOTHING: Amounts = { userMs: 0, serverMs: 0, authorityMs: 0, bytesUp: 0, bytesDown: 0 };

/** The total as the sum of its phases, if one user represents all. */
export function inAll(phases: readonly PhaseCost[]): Cost {
  const sum = (what: keyof Amounts): number => phases.reduce((total, phase) => total + phase[what], 0);
  return {
    userMs: sum('userMs'),
    serverMs: sum('serverMs'),
    authorityMs: sum('authorityMs'),
    bytesUp: sum('bytesUp'),
    bytesDown: sum('bytesDown'),
    phases,
  };
}
