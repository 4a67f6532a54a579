/** A whole run at a small dimension with everything in it real, and the work on vectors at the price of the real one. */
import type { AggregationProtocol, AggregationTools } from '@basa/baselines';
import type { Account, Counted } from './meter.ts';
import { Meter, median } from './meter.ts';
import type { VectorPrices } from './prices.ts';

/** Elements of the run that is timed and whose sum is checked. */
const SMALL = 64;

export interface Cost {
  readonly userMs: number;
  readonly serverMs: number;
  readonly authorityMs?: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
}

/** Refused, or the price at any dimension. */
export type Priced = ((dimension: number, prices: VectorPrices) => Cost) | undefined;

export type SealingCosts = Partial<Record<Counted, number>>;

/** `users` leave by `dropouts` before they upload: the last moment, and the dearest one for the server. */
export function priceOf(
  users: number,
  dropouts: number,
  make: (meter: Meter) => AggregationProtocol,
  sealingMs: SealingCosts = {},
): Priced {
  const meter = new Meter();
  const protocol = make(meter);
  const leaving = Math.floor(users * dropouts);
  const upload = protocol.phases.find(({ name }) => name === 'upload' || name === 'masked-input')?.name;
  const inputs = Array.from({ length: users }, (_, user) =>
    Uint32Array.from({ length: SMALL }, (__, k) => 1 + ((user * 31 + k) % 1000)),
  );
  const found = protocol.aggregate(
    { inputs, leavesBefore: (user) => (user >= 1 && user <= leaving ? upload : undefined) },
    meter,
  );
  if (found.kind === 'refused') return undefined;
  const expected = inputs[0]?.map((_, k) => found.included.reduce((sum, user) => sum + (inputs[user]?.[k] ?? 0), 0));
  if (expected?.join() !== found.sum.join()) throw new Error(`${protocol.name} gave a wrong sum`);
  const stayed = found.included.map((user) => meter.users.get(user) as Account);
  const sealing = ({ counts }: Account): number =>
    Object.entries(sealingMs).reduce((sum, [name, ms]) => sum + counts[name as Counted] * ms, 0);
  return (dimension, { expansionMs, packMs, addMs }) => ({
    userMs: median(stayed.map((user) => user.ms + sealing(user) + user.counts.expansions * expansionMs + packMs)),
    serverMs:
      meter.server.ms + sealing(meter.server) + meter.server.counts.expansions * expansionMs + stayed.length * addMs,
    authorityMs: meter.authority.ms + sealing(meter.authority),
    bytesUp: median(stayed.map(({ up }) => up)) + 4 * (dimension - SMALL),
    bytesDown: median(stayed.map(({ down }) => down)),
  });
}

/** The tools, with the expansions of masks counted. */
export function counted(tools: AggregationTools, meter: Meter): AggregationTools {
  return { ...tools, masks: { ...tools.masks, suite: meter.listen(tools.masks.suite) } };
}
