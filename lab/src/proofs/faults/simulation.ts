/** A simulation is a list of operations on a federation: drawn from a seed, and shortened as far as possible if it fails. */
import type { FreezeReason } from '@basa/protocol';
import { CLOSE_MS, LEASE_MS, OPEN_MS, type Step } from '@basa/simulator';
import type { Draw } from '@basa/testkit/core/draw.ts';

export type Operation =
  /** The device continues up to and including this step. */
  | { readonly kind: 'advance'; readonly device: number; readonly until: Step }
  /** Sends its next message and drops the answer; or sends all its earlier messages once more. */
  | { readonly kind: 'send'; readonly device: number }
  | { readonly kind: 'replay'; readonly device: number }
  /** Ends its session as far as the authority allows it, and starts another. */
  | { readonly kind: 'renew'; readonly device: number }
  | { readonly kind: 'lose-reply'; readonly step: string }
  /** The party that writes the n-th record from now on crashes right after it. */
  | { readonly kind: 'crash'; readonly after: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'tick' }
  | { readonly kind: 'restart'; readonly party: 'server' | 'authority'; readonly downtimeMs: number }
  | { readonly kind: 'finish'; readonly buffer: number; readonly why: FreezeReason }
  | { readonly kind: 'freeze'; readonly buffer: number; readonly why: FreezeReason }
  | { readonly kind: 'abort'; readonly buffer: number }
  /** The server's store loses the newest record of a buffer. Never drawn: it breaks the protocol's assumption. */
  | { readonly kind: 'lose-record'; readonly buffer: number };

const CHEATS = [
  'garbage-edges',
  'garbage-self',
  'other-edges',
  'other-self',
  'wrong-root',
  'bad-signature',
  'hoards-seats',
  'quits',
  'wrong-weight',
  'wrong-guard',
  'out-of-range',
  'truncates',
  'alters',
  'bad-backups',
  'lies-about-voids',
] as const;
export type Cheat = (typeof CHEATS)[number];

export interface Simulation {
  readonly seed: number;
  readonly bufferSize: number;
  readonly minimum: number;
  /** One entry per device: its cheat, or undefined. */
  readonly devices: readonly (Cheat | undefined)[];
  readonly operations: readonly Operation[];
}

const CALLS = ['draw', 'deposit', 'key', 'upload', 'freeze', 'close', 'append', 'finish'] as const;
const REASONS: readonly FreezeReason[] = ['resolved', 'stalled', 'expired'];
const STEPS: readonly Step[] = ['seat', 'deposit', 'key', 'upload'];

/** Devices go through their steps, interleaved, several buffers in parallel, with a fault after every few steps. */
export function drawSimulation(seed: number, draw: Draw): Simulation {
  const bufferSize = 2 + draw.below(5);
  const minimum = 2 + draw.below(bufferSize - 1);
  const count = bufferSize * (1 + draw.below(3));
  const devices = Array.from({ length: count }, () => (draw.oneIn(10) ? draw.of(CHEATS) : undefined));
  const operations: Operation[] = [];
  const left = devices.map(() => 1 + draw.below(2));
  const buffers = Math.ceil((2 * count) / bufferSize) + 1;
  const fault = (): Operation => drawFault(draw, count, buffers);
  const at = devices.map(() => 0);
  while (left.some((updates) => updates > 0)) {
    const device = draw.below(count);
    if (left[device] === 0) continue;
    const step = Math.min(STEPS.length - 1, (at[device] as number) + draw.below(3));
    operations.push({ kind: 'advance', device, until: STEPS[step] as Step });
    if (step < STEPS.length - 1) at[device] = step + 1;
    else {
      at[device] = 0;
      left[device] = (left[device] as number) - 1;
      operations.push({ kind: 'renew', device });
    }
    if (draw.oneIn(5)) operations.push(fault());
    if (draw.oneIn(8)) operations.push({ kind: 'finish', buffer: draw.below(buffers), why: draw.of(REASONS) });
  }
  return { seed, bufferSize, minimum, devices, operations };
}

function drawFault(draw: Draw, devices: number, buffers: number): Operation {
  const device = draw.below(devices);
  const buffer = draw.below(buffers);
  switch (draw.below(12)) {
    case 0:
    case 1:
      return { kind: 'crash', after: 1 + draw.below(4) };
    case 2:
    case 3:
      return { kind: 'lose-reply', step: draw.of(CALLS) };
    case 4:
      return { kind: 'send', device };
    case 5:
      return { kind: 'replay', device };
    case 6:
      return { kind: 'wait', ms: draw.of([1, LEASE_MS / 2, LEASE_MS / 2, LEASE_MS + 1, OPEN_MS, OPEN_MS + CLOSE_MS]) };
    case 7:
      return { kind: 'tick' };
    case 8:
      return { kind: 'restart', party: draw.of(['server', 'authority']), downtimeMs: draw.of([0, LEASE_MS * 3]) };
    case 9:
      return { kind: 'freeze', buffer, why: draw.of(REASONS) };
    case 10:
      return { kind: 'abort', buffer };
    default:
      return { kind: 'renew', device };
  }
}
