/** Processor time to seal and open the parts of one upload, with each sealing. */
import { diffieHellman, generateKeyPairSync } from 'node:crypto';
import { SEALINGS } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import type { Sealing } from '@basa/protocol/policy';
import { withKem } from '@basa/runtime/kem';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { type PartTrial, partTrial } from '@basa/simulator';
import { processorTimeInTurn } from './measure.ts';
import type { BenchResult } from './result.ts';
import { formatTable } from './table.ts';

const ROUNDS = 25;

export function benchSealing(): BenchResult {
  const parts = COUNCILS.map(benchParts);
  const { agreementMs } = processorTimeInTurn({ agreementMs: agreement() }, ROUNDS);
  return { text: partsText(parts, agreementMs), json: { sealing: { parts, agreementMs: round(agreementMs) } } };
}

/** One X25519 agreement of keys in the form of the platform. */
function agreement(): () => void {
  const [privateKey, publicKey] = [generateKeyPairSync('x25519').privateKey, generateKeyPairSync('x25519').publicKey];
  return () => void diffieHellman({ privateKey, publicKey });
}

const COUNCILS = [
  { council: '1 authority', authorities: 1, tolerated: 0 },
  { council: '3 of 4', authorities: 4, tolerated: 1 },
] as const;

/** More than the suite keeps expanded: with this number in turn, every seal begins with keys that it has not met. */
const NEW_KEYS = 300;

interface PartsCost {
  readonly sealedBytes: number;
  /** A device seals all parts of an upload: keys that it has sealed to before, and new ones. */
  readonly sealMs: number;
  readonly sealToNewKeysMs: number;
  /** An authority opens the parts of an upload that it holds. */
  readonly openMs: number;
  /** As one of many uploads of a request: the own key is read once. */
  readonly openInBatchMs: number;
}

interface CouncilCost {
  readonly council: string;
  readonly costs: Readonly<Record<Sealing, PartsCost>>;
}

/** The sealed parts of one upload, with each sealing. */
function benchParts({ council, ...options }: (typeof COUNCILS)[number]): CouncilCost {
  const tools = { suite: withKem(nodeSuite), randomBytes: nodeRandomBytes };
  const costs = SEALINGS.map((sealing): [Sealing, PartsCost] => {
    const trials = Array.from({ length: NEW_KEYS }, () => partTrial(tools, { ...options, sealing }));
    const [known] = trials as [PartTrial];
    let turn = 0;
    const times = processorTimeInTurn(
      {
        sealMs: known.seal,
        openMs: known.open,
        openInBatchMs: known.openInBatch,
        sealToNewKeysMs: () => trials[turn++ % NEW_KEYS]?.seal(),
      },
      ROUNDS,
    );
    const rounded = Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, round(ms)])) as typeof times;
    return [sealing, { sealedBytes: known.sealedBytes, ...rounded }];
  });
  return { council, costs: Object.fromEntries(costs) as Record<Sealing, PartsCost> };
}

function partsText(parts: readonly CouncilCost[], agreement: number): string {
  const rows = parts.flatMap(({ council, costs }) => {
    const before = costs.x25519;
    return Object.entries(costs).map(([sealing, { sealedBytes, sealMs, sealToNewKeysMs, openMs, openInBatchMs }]) => [
      `${council}, ${sealing}`,
      `${sealedBytes} (+${sealedBytes - before.sealedBytes})`,
      `${sealMs.toFixed(2)} (+${(sealMs - before.sealMs).toFixed(2)})`,
      `${sealToNewKeysMs.toFixed(2)} (+${(sealToNewKeysMs - before.sealToNewKeysMs).toFixed(2)})`,
      `${openMs.toFixed(2)} (+${(openMs - before.openMs).toFixed(2)})`,
      `${openInBatchMs.toFixed(2)} (${(openInBatchMs / agreement).toFixed(1)})`,
    ]);
  });
  return [
    'The sealed parts of one upload, in processor time. The increase over only X25519 is in brackets.',
    'A device seals to known keys, or to new keys that it must expand first. An authority opens the parts that it holds,',
    `alone or as one of many uploads of a request; the number in brackets counts X25519 agreements of ${(1000 * agreement).toFixed(0)} us.`,
    '',
    formatTable(['council, sealing', 'bytes', 'seal, ms', 'seal to new keys, ms', 'open, ms', 'in a batch, ms'], rows),
  ].join('\n');
}

function round(ms: number): number {
  return Math.round(10_000 * ms) / 10_000;
}
