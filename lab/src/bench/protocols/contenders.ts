/** The protocols whose cost is composed, each with and without real sealing. */
import { type AggregationProtocol, type AggregationTools, plainAggregation, secAgg, secAggPlus } from '@basa/baselines';
import { ENGINE, partsOf } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import {
  basaOneShot,
  basaSealed,
  type Environment,
  overAttributes,
  type SealedOptions,
  unsafeBasaPaper,
} from '@basa/simulator';
import { countedSealings, type Meter } from '@basa/virtual-time';
import { abeSealings, paperAbeSealings, slotKeySealings } from '@basa/virtual-time/real-sealings';
import { nodeEnvironment } from '@basa/virtual-time/simulation';
import { type Charged, counted, type VectorHashes } from './composed.ts';
import { type SealingPrices, sealingPrices } from './prices.ts';

type EngineName = 'slot keys' | 'CP-ABE';
export type EnginePrices = Readonly<Record<EngineName, SealingPrices>>;

export function enginePrices(): EnginePrices {
  return { 'slot keys': sealingPrices(slotKeySealings()), 'CP-ABE': sealingPrices(abeSealings()) };
}

export interface Contender extends Charged {
  readonly name: string;
  /** With expansions and calls of the sealing counted, the calls free of charge. */
  readonly counted: (meter: Meter) => AggregationProtocol;
  /** The complete real protocol. */
  readonly real: () => AggregationProtocol;
}

export function contenders(dropouts: number, tools: AggregationTools, engines: EnginePrices): readonly Contender[] {
  const risk = { corrupt: 0.05, dropped: Math.max(0.05, dropouts) };
  const baseline = (name: string, make: (tools: AggregationTools) => AggregationProtocol): Contender => ({
    name,
    counted: (meter) => make(counted(tools, meter)),
    real: () => make(tools),
  });
  return [
    baseline('plain', plainAggregation),
    baseline('SecAgg', secAgg),
    baseline('SecAgg+', (from) => secAggPlus(from, risk)),
    ...basa(tools, engines['CP-ABE']),
    ...ONE_SHOTS.map((shape) => oneShot(tools, shape)),
  ];
}

/** A user hashes its input before the deposit and again before it masks it, and the body that it uploads. */
export const SEALED_HASHES: VectorHashes = { user: 3, server: 1 };

function outside({ masks }: AggregationTools): Environment {
  return { ...nodeEnvironment, tools: masks };
}

/** BASA with the default engine of tasks, counting the expansions of masks. */
export function countedSlotKeys(
  tools: AggregationTools,
  meter: Meter,
  council: NonNullable<SealedOptions['council']> = COUNCILS[0],
): AggregationProtocol {
  return basaSealed(outside(counted(tools, meter)), { sealings: slotKeySealings(council.authorities), council });
}

/** Slot keys are cheap enough to be timed in the run itself; with CP-ABE the calls are counted and charged. */
function basa(tools: AggregationTools, { seals, opens, issues, ...sizes }: SealingPrices): readonly Contender[] {
  const counting = (meter: Meter): Environment => outside(counted(tools, meter));
  const sealingMs = { seals, opens, issues };
  return [
    {
      name: 'BASA paper (CP-ABE)',
      counted: (meter) => unsafeBasaPaper(counting(meter), { sealings: countedSealings(meter, sizes) }),
      real: () => unsafeBasaPaper(outside(tools), { sealings: paperAbeSealings() }),
      sealingMs,
    },
    {
      name: 'BASA sealed (CP-ABE)',
      counted: (meter) =>
        basaSealed(counting(meter), {
          sealings: overAttributes(nodeSuite, ENGINE.unsafeTransparent, countedSealings(meter, sizes)),
        }),
      real: () => basaSealed(outside(tools), { sealings: abeSealings() }),
      sealingMs,
      hashes: SEALED_HASHES,
    },
    ...COUNCILS.map(
      (council): Contender => ({
        name: slotKeysName(council),
        counted: (meter) => countedSlotKeys(tools, meter, council),
        real: () => basaSealed(outside(tools), { sealings: slotKeySealings(council.authorities), council }),
        hashes: SEALED_HASHES,
      }),
    ),
  ];
}

/** One authority, and the smallest council that checks its sums and survives the loss of one member. */
export const ONE_SHOTS = [
  { name: 'BASA one-shot', council: { authorities: 1, threshold: 1 }, tolerated: 0 },
  { name: 'BASA one-shot (3 of 4)', council: { authorities: 4, threshold: 3 }, tolerated: 1 },
] as const;
export type OneShotShape = (typeof ONE_SHOTS)[number];

/** A device hashes its body, and so does the server. The guard words are really expanded. */
export function oneShot(tools: AggregationTools, { name, council, tolerated }: OneShotShape): Contender {
  const parts = partsOf(council.authorities, tolerated).length;
  return {
    name,
    counted: (meter) => basaOneShot(outside(counted(tools, meter)), { council, tolerated, guardTools: tools.masks }),
    real: () => basaOneShot(outside(tools), { council, tolerated }),
    hashes: { user: 1, server: 1 },
    maskSums: { made: parts * (tolerated + 1), taken: parts },
  };
}

/** One authority is the default; the others tolerate one and two colluding authorities. */
export const COUNCILS = [
  { authorities: 1, threshold: 1 },
  { authorities: 4, threshold: 3 },
  { authorities: 7, threshold: 5 },
] as const satisfies readonly SealedOptions['council'][];

export function slotKeysName({ authorities, threshold }: NonNullable<SealedOptions['council']>): string {
  return authorities === 1 ? 'BASA sealed (slot keys)' : `BASA sealed (slot keys, ${threshold} of ${authorities})`;
}
