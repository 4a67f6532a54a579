/** What one sum costs: a user of it, the server, the authority; in all and by phase. */

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
  /** A user's figures are medians, here as in all: they need not add up. */
  readonly phases: readonly PhaseCost[];
}

export const NOTHING: Amounts = { userMs: 0, serverMs: 0, authorityMs: 0, bytesUp: 0, bytesDown: 0 };

/** The whole as the sum of its phases, where one user stands for all. */
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
