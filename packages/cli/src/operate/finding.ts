/** The result of a check: fine, worth a look, or blocking; the last two with advice. */

export interface Finding {
  readonly check: string;
  readonly state: 'fine' | 'warning' | 'failed';
  readonly says: string;
  readonly todo?: string;
}

export function fine(check: string, says: string): Finding {
  return { check, state: 'fine', says };
}

export function warning(check: string, says: string, todo: string): Finding {
  return { check, state: 'warning', says, todo };
}

export function failed(check: string, says: string, todo: string): Finding {
  return { check, state: 'failed', says, todo };
}

const LATE_MS = 30_000;
/** The largest clock difference that a service accepts from a signer. */
const TOO_LATE_MS = 300_000;

export function clockFinding(check: string, aheadMs: number): Finding {
  const says = `${check} is ${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${aheadMs < 0 ? 'behind' : 'ahead of'} this machine`;
  const todo = 'set both clocks with NTP; signed requests fail if the clocks differ by more than 5 minutes';
  if (Math.abs(aheadMs) > TOO_LATE_MS) return failed(`clock of ${check}`, says, todo);
  if (Math.abs(aheadMs) > LATE_MS) return warning(`clock of ${check}`, says, todo);
  return fine(`clock of ${check}`, says);
}
