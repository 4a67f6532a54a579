/** Processor time to seal and open one seed with each engine, compared with the operations that it needs at least. */
import { diffieHellman, generateKeyPairSync } from 'node:crypto';
import { createMclGroup } from '@basa/abe';
import { SEALINGS, type Sealing } from '@basa/protocol';
import { withKem } from '@basa/runtime/kem';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { type PartTrial, partTrial, sealingTrial } from '@basa/simulator';
import { abeSealings, slotKeySealings } from '@basa/virtual-time/real-sealings';
import { processorTimeInTurn } from './measure.ts';
import type { BenchResult } from './result.ts';
import { formatTable } from './table.ts';

const ROUNDS = 25;
const SLOTS = 10;

export async function benchSealing(): Promise<BenchResult> {
  const [slotKeys, cpAbe] = [slotKeySealings(), abeSealings()].map((sealings) =>
    sealingTrial(sealings, SLOTS, nodeRandomBytes),
  );
  if (slotKeys === undefined || cpAbe === undefined) throw new Error('two engines are compared');
  const times = processorTimeInTurn(
    {
      x25519: agreement(),
      slotKeysSeal: slotKeys.seal,
      slotKeysOpen: slotKeys.open,
      pairings: await threePairings(),
      cpAbeSeal: cpAbe.seal,
      cpAbeOpen: cpAbe.open,
    },
    ROUNDS,
  );
  const parts = COUNCILS.map(benchParts);
  const row = (title: string, name: keyof typeof times, peer: 'x25519' | 'pairings', bytes = ''): string[] => [
    title,
    times[name].toFixed(4),
    (times[name] / times[peer]).toFixed(2),
    bytes,
  ];
  const text = [
    `One seed of 32 bytes, sealed to one slot and opened with its key. Processor time of one process, medians of ${ROUNDS} turns.`,
    'The peer of slot keys is one agreement of X25519 by node:crypto, with both keys kept as its objects; that of CP-ABE is',
    'one product of three pairings by mcl. An opening is held to at most 4 agreements.',
    '',
    formatTable(
      ['operation', 'ms', 'times its peer', 'sealed bytes'],
      [
        row('X25519, one agreement', 'x25519', 'x25519'),
        row('slot keys: seal', 'slotKeysSeal', 'x25519', `${slotKeys.sealedBytes}`),
        row('slot keys: open', 'slotKeysOpen', 'x25519'),
        row('mcl, a product of three pairings', 'pairings', 'pairings'),
        row('CP-ABE: seal', 'cpAbeSeal', 'pairings', `${cpAbe.sealedBytes}`),
        row('CP-ABE: open', 'cpAbeOpen', 'pairings'),
      ],
    ),
    '',
    partsText(parts),
  ].join('\n');
  const sealing = {
    parts,
    slotKeys: engineJson(times.slotKeysSeal, times.slotKeysOpen, slotKeys.sealedBytes),
    cpAbe: engineJson(times.cpAbeSeal, times.cpAbeOpen, cpAbe.sealedBytes),
    x25519Ms: round(times.x25519),
    product3Ms: round(times.pairings),
    peers: {
      slotKeys: 'one agreement of X25519 by node:crypto',
      cpAbe: 'one product of three pairings by mcl',
    },
  };
  return { text, json: { sealing } };
}

/** Councils of the one-shot mode. */
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
}

interface CouncilCost {
  readonly council: string;
  readonly costs: Readonly<Record<Sealing, PartsCost>>;
}

/** The sealed parts of one upload of the one-shot mode, with each sealing. */
function benchParts({ council, ...options }: (typeof COUNCILS)[number]): CouncilCost {
  const tools = { suite: withKem(nodeSuite), randomBytes: nodeRandomBytes };
  const costs = SEALINGS.map((sealing): [Sealing, PartsCost] => {
    const trials = Array.from({ length: NEW_KEYS }, () => partTrial(tools, { ...options, sealing }));
    const [known] = trials as [PartTrial];
    let turn = 0;
    const times = processorTimeInTurn(
      { sealMs: known.seal, openMs: known.open, sealToNewKeysMs: () => trials[turn++ % NEW_KEYS]?.seal() },
      ROUNDS,
    );
    const { sealMs, openMs, sealToNewKeysMs } = times;
    const rounded = { sealMs: round(sealMs), openMs: round(openMs), sealToNewKeysMs: round(sealToNewKeysMs) };
    return [sealing, { sealedBytes: known.sealedBytes, ...rounded }];
  });
  return { council, costs: Object.fromEntries(costs) as Record<Sealing, PartsCost> };
}

function partsText(parts: readonly CouncilCost[]): string {
  const rows = parts.flatMap(({ council, costs }) => {
    const before = costs.x25519;
    return Object.entries(costs).map(([sealing, { sealedBytes, sealMs, sealToNewKeysMs, openMs }]) => [
      `${council}, ${sealing}`,
      `${sealedBytes} (+${sealedBytes - before.sealedBytes})`,
      `${sealMs.toFixed(2)} (+${(sealMs - before.sealMs).toFixed(2)})`,
      `${sealToNewKeysMs.toFixed(2)} (+${(sealToNewKeysMs - before.sealToNewKeysMs).toFixed(2)})`,
      `${openMs.toFixed(2)} (+${(openMs - before.openMs).toFixed(2)})`,
    ]);
  });
  return [
    'The sealed parts of one upload of the one-shot mode, in processor time. The increase over only X25519 is in brackets.',
    'A device seals to known keys, or to new keys that it must expand first. An authority opens the parts that it holds.',
    '',
    formatTable(['council, sealing', 'bytes', 'seal, ms', 'seal to new keys, ms', 'open, ms'], rows),
  ].join('\n');
}

function agreement(): () => void {
  const [{ privateKey }, { publicKey }] = [generateKeyPairSync('x25519'), generateKeyPairSync('x25519')];
  return () => void diffieHellman({ privateKey, publicKey });
}

async function threePairings(): Promise<() => void> {
  const { g1, g2, pairingProduct } = await createMclGroup();
  const pair = { g1: g1.generator, g2: g2.generator };
  return () => void pairingProduct([pair, pair, pair]);
}

function engineJson(sealMs: number, openMs: number, sealedBytes: number): object {
  return { sealMs: round(sealMs), openMs: round(openMs), sealedBytes };
}

function round(ms: number): number {
  return Math.round(10_000 * ms) / 10_000;
}
