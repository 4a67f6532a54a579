/** A full real run at a small dimension, with the work on vectors added at the price of the real dimension. */
import type { AggregationProtocol, AggregationTools } from '@basa/baselines';
import { type Account, accountIn, type Book, type Counted, type Meter, median } from '@basa/simulator/virtual-time';
import type { Amounts, Cost } from './cost.ts';
import { type DeviceHashes, SMALL } from './device-hashes.ts';
import { type Run, runOnce } from './one-run.ts';
import type { VectorPrices } from './prices.ts';

/** Bytes of a packed element. */
const FIELD_BYTES = 4;

/** Refused, or the price at any dimension. */
export type Priced = ((dimension: number, prices: VectorPrices) => Cost) | undefined;

/** The bytes of vectors that a user hashes and checksums, and the number of checksums that the server makes of each upload. */
export interface VectorHashes {
  /** Of the downloaded model, and of the update; by dimension. */
  readonly user: DeviceHashes;
  readonly server: number;
}

/** The charges of a protocol besides its expansions. */
export interface Charged {
  readonly sealingMs?: SealingCosts;
  readonly hashes?: VectorHashes;
  readonly maskSums?: MaskSums;
}

/** The number of sums of masks that authorities make of one batch, and the number that the server subtracts. */
export interface MaskSums {
  readonly made: number;
  readonly taken: number;
}

const NO_HASHES: VectorHashes = { user: new Map(), server: 0 };
const NO_SUMS: MaskSums = { made: 0, taken: 0 };

type SealingCosts = Partial<Record<Counted, number>>;

export interface Charges {
  /** Milliseconds of each counted call. */
  readonly callMs: Partial<Record<Counted, number>>;
  readonly userUploadMs: number;
  readonly serverUploadMs: number;
  readonly serverCloseMs: number;
  readonly authorityCloseMs: number;
  readonly uploadBytes: number;
}

export function priceOf(
  users: number,
  dropouts: number,
  make: (meter: Meter) => AggregationProtocol,
  { sealingMs = {}, hashes = NO_HASHES, maskSums = NO_SUMS }: Charged = {},
): Priced {
  const run = runOnce({ users, dropouts, dimension: SMALL }, make);
  if (run === undefined) return undefined;
  return (dimension, prices) => {
    const hashed = hashes.user.get(dimension);
    const vectorBytes = FIELD_BYTES * dimension;
    const hashesMs = (prices.hashMs * (hashed?.update ?? 0)) / vectorBytes;
    const checksumsMs = (prices.crcMs * (hashed?.checksums ?? 0)) / vectorBytes;
    const cost = costOf(run, {
      callMs: { ...sealingMs, expansions: prices.expansionMs },
      userUploadMs: prices.packMs + hashesMs + checksumsMs,
      serverUploadMs: run.stayed.length * (prices.addMs + hashes.server * prices.crcMs),
      serverCloseMs: maskSums.taken * (prices.addMs + prices.hashMs),
      authorityCloseMs: maskSums.made * (prices.packMs + prices.hashMs),
      uploadBytes: FIELD_BYTES * (dimension - SMALL),
    });
    return hashed === undefined ? cost : { ...cost, modelHashMs: (prices.hashMs * hashed.model) / vectorBytes };
  };
}

/** The measured time plus the charges. */
export function costOf(run: Run, charges: Charges): Cost {
  const { protocol, meter, stayed, upload } = run;
  const names = protocol.phases.map(({ name }) => name);
  const msOf = ({ ms, counts }: Account): number =>
    Object.entries(charges.callMs).reduce((sum, [name, each]) => sum + counts[name as Counted] * each, ms);
  const amountsOf = (phases: readonly string[]): Amounts => {
    const hasUpload = phases.includes(upload) ? 1 : 0;
    const hasClose = phases.includes('close') ? 1 : 0;
    const total = (book: Book, of: (account: Account) => number): number =>
      phases.reduce((sum, phase) => sum + of(accountIn(book, phase)), 0);
    const ofUser = (of: (account: Account) => number): number => median(stayed.map((book) => total(book, of)));
    return {
      userMs: ofUser(msOf) + hasUpload * charges.userUploadMs,
      serverMs: total(meter.server, msOf) + hasUpload * charges.serverUploadMs + hasClose * charges.serverCloseMs,
      authorityMs: total(meter.authority, msOf) + hasClose * charges.authorityCloseMs,
      bytesUp: ofUser(({ up }) => up) + hasUpload * charges.uploadBytes,
      bytesDown: ofUser(({ down }) => down),
    };
  };
  return { ...amountsOf(names), phases: names.map((phase) => ({ phase, ...amountsOf([phase]) })) };
}

/** The tools, with the expansions of masks counted. */
export function counted(tools: AggregationTools, meter: Meter): AggregationTools {
  return { ...tools, masks: { ...tools.masks, suite: meter.listen(tools.masks.suite) } };
}
